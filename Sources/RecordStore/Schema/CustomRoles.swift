import RecordModel
package import StorageContract

/// Custom roles of users, and the environments in which saves define nothing.
extension TableReader {
    /// Lists the names of the custom roles of a user in one environment, in no order.
    func roles(of user: UserNumber, in environment: EnvironmentID) throws(StorageFailure) -> [String] {
        let given = try self.rows(RowRange(UserRoleRow.byKey, user)).map(\.role)
        guard !given.isEmpty else { return [] }
        return try self.rows(RoleRow.byKey, keys: given)
            .compactMap { $0?.environment == environment ? $0?.name : nil }
    }

    /// Lists the custom roles of a user by record name; none if there is no such user.
    package func roles(
        ofUser recordName: String,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> Set<String> {
        guard let user = try self.row(UserRow.byRecordName, recordName) else { return [] }
        return Set(try self.roles(of: user.number, in: environment))
    }

    /// Whether the schema of an environment changes by deploying alone: production's.
    func isSchemaFrozen(in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        guard let row = try self.row(EnvironmentRow.byKey, environment) else {
            throw .unexpected(code: 0)
        }
        return row.kind == .production
    }
}
