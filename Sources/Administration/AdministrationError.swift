package import RecordModel
package import RecordStore

/// Why an operation was not executed.
///
/// Its callers make sentences of it: a command names the option to add, a page the form to change.
package enum AdministrationError: Error, Hashable, Sendable {
    /// The directory refuses something about a container, or about a user of it.
    case directory(DirectoryError, container: String, user: String? = nil)
    /// The directory refuses something about a service.
    case service(DirectoryError, name: String, container: String)
    /// A key is to act on behalf of users, and some of them do not exist.
    case usersMissing([String], container: String)
    /// The schemas refuse a change, or a role of a user.
    case schema(SchemaStoreError, container: String, user: String = "", role: String = "")
    /// A private or shared database belongs to a user, and none is named.
    case userRequired(DatabaseScope)
    /// The user has no such database: the first sign-in makes it, and services have none.
    case databaseMissing(DatabaseScope, user: String, Environment)
}

extension Store {
    /// Calls the directory, and adds to its error what the call is about.
    func directory<Value>(
        _ container: String,
        user: String? = nil,
        _ call: (Directory) throws(DirectoryError) -> Value
    ) throws(AdministrationError) -> Value {
        do throws(DirectoryError) {
            return try call(self.directory)
        } catch {
            throw .directory(error, container: container, user: user)
        }
    }

    /// Calls the schemas, and adds to their error what the call is about.
    func schemas<Value>(
        _ container: String,
        user: String = "",
        role: String = "",
        _ call: (SchemaStore) throws(SchemaStoreError) -> Value
    ) throws(AdministrationError) -> Value {
        do throws(SchemaStoreError) {
            return try call(self.schemas)
        } catch {
            throw .schema(error, container: container, user: user, role: role)
        }
    }
}
