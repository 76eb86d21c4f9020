import GRDBSQLite
import RecordModel
import RecordStore

/// Grants, roles and frozen schemas, kept until somebody else writes.
extension WriterTransaction {
    func isSchemaFrozen(in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        if let known = self.caches.areFrozen[environment] { return known }
        let statement = self.statements.names.environmentKind
        statement.bind(1, environment.rawValue)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        let isFrozen = statement.integer(0) == Int64(Environment.production.rawValue)
        statement.reset()
        self.caches.areFrozen[environment] = isFrozen
        return isFrozen
    }

    func grants(ofType type: String, in environment: EnvironmentID) throws(StorageFailure) -> [Grant] {
        let key = WriterCaches.Name(owner: environment.rawValue, name: type)
        if let known = self.caches.grants[key] { return known }
        let grants = try self.statements.grants.grants(ofType: type, in: environment)
        self.caches.grants[key] = grants
        return grants
    }

    func roles(ofUser user: String, in environment: EnvironmentID) throws(StorageFailure) -> Set<String> {
        let key = WriterCaches.Name(owner: environment.rawValue, name: user)
        if let known = self.caches.roles[key] { return known }
        let roles = try self.statements.grants.roles(ofUser: user, in: environment)
        self.caches.roles[key] = roles
        return roles
    }
}
