extension Table {
    /// The tables that rules read and write through `TableReader` and `TableWriter`: what an engine
    /// has from its start, empty.
    package static let all: [Table] = [
        AssetRow.table, AssetUseRow.table, AssetUserRow.table, AuthorRow.table, ContainerRow.table,
        DatabaseRow.table, EnvironmentRow.table, FieldRow.table, IndexBuildRow.table,
        IndexRemovalRow.table, InstallationSeenRow.table, ListenerCursorRow.table,
        MembershipChangeRow.table, MembershipRow.table, PastRemovalRow.table, PastRow.table,
        PastZoneRow.table, RecordTypeRow.table, RequestRow.table, RoleRow.table, SecretRow.table,
        ServiceKeyRow.table, ServiceKeyUserRow.table, ShareNewsRow.table, ShareReaderRow.table,
        ShareRemovalRow.table, ShareRow.table, ShareTokenRow.table, SubscriptionRow.table,
        SweepRow.table, TokenExpiryRow.table, TypeGrantRow.table, UserContactRow.table,
        UserRoleRow.table, UserRow.table, ViewRefreshRow.table, ZoneRow.table, ZoneTombstoneRow.table,
    ]
}
