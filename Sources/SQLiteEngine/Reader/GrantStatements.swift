import RecordStore

/// Looks up grants and roles, on whatever connection.
struct GrantStatements {
    private let grants, roles: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        self.grants = try HotStatement(
            """
            SELECT type_grant.role, type_grant.permissions FROM record_type
            JOIN type_grant ON type_grant.record_type = record_type.number
            WHERE record_type.environment = ? AND record_type.name = ? ORDER BY type_grant.role
            """,
            on: connection
        )
        self.roles = try HotStatement(
            """
            SELECT role.name FROM user
            JOIN user_role ON user_role.user = user.number
            JOIN role ON role.number = user_role.role
            WHERE user.record_name = ? AND role.environment = ?
            """,
            on: connection
        )
    }

    /// What the file says of a type, by role.
    func grants(ofType type: String, in environment: EnvironmentID) throws(StorageFailure) -> [Grant] {
        self.grants.bind(1, environment.rawValue)
        self.grants.bind(2, type)
        var grants: [Grant] = []
        while try self.grants.step() {
            let permissions = Permissions(rawValue: UInt8(truncatingIfNeeded: self.grants.integer(1)))
            grants.append(Grant(role: self.grants.text(0), permissions: permissions))
        }
        return grants
    }

    /// The custom roles of a user.
    func roles(ofUser recordName: String, in environment: EnvironmentID) throws(StorageFailure) -> Set<String>
    {
        self.roles.bind(1, recordName)
        self.roles.bind(2, environment.rawValue)
        var roles: Set<String> = []
        while try self.roles.step() { roles.insert(self.roles.text(0)) }
        return roles
    }
}
