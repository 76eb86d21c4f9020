import StorageContract

/// The effect of a table's changes beyond the table itself.
enum TableConcern {
    /// The writer and readers cache record types, which are built from the table.
    case types
    /// The numbers of names are cached as well.
    case names
    case zones
    /// Positions, and the accounts with the quotas that a database counts toward.
    case databases
    /// Housekeeping has work.
    case work(HousekeepingKind)

    static let all: [ObjectIdentifier: TableConcern] = {
        var concerns: [ObjectIdentifier: TableConcern] = [
            ObjectIdentifier(FieldRow.table): .types, ObjectIdentifier(TypeGrantRow.table): .types,
            ObjectIdentifier(RecordTypeRow.table): .names, ObjectIdentifier(AuthorRow.table): .names,
            ObjectIdentifier(ZoneRow.table): .zones, ObjectIdentifier(DatabaseRow.table): .databases,
            ObjectIdentifier(EnvironmentRow.table): .databases, ObjectIdentifier(UserRow.table): .databases,
        ]
        for kind in HousekeepingKind.allCases {
            for table in kind.tables { concerns[ObjectIdentifier(table)] = .work(kind) }
        }
        return concerns
    }()
}
