import RecordModel
import StorageContract

/// Finds users by their addresses, numbers and names.
extension TableReader {
    /// Finds the user with an address, a number or a name; `nil` if there is none.
    ///
    /// - Returns: The user record name.
    func user(
        _ lookup: IdentityLookup,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> String? {
        guard let container = try self.row(EnvironmentRow.byKey, environment)?.container else {
            return nil
        }
        if let contact = UserContact(lookup) {
            let known = try self.row(UserContactRow.byKey, container, contact.kind, contact.value)
            guard let known else { return nil }
            return try self.row(UserRow.byKey, known.user)?.recordName
        }
        guard case .userRecordName(let name) = lookup,
            let user = try self.row(UserRow.byRecordName, name), user.container == container,
            user.kind == .person
        else { return nil }
        return user.recordName
    }

    /// Finds the shared database of a user; `nil` if there is no such user.
    func sharedDatabase(
        ofUser recordName: String,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> DatabaseID? {
        guard let user = try self.row(UserRow.byRecordName, recordName) else { return nil }
        let scope = DatabaseScope.shared
        return try self.row(DatabaseRow.byOwner, environment, scope, user.number)?.number
    }
}
