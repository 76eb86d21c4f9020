import GRDBSQLite
import RecordModel
import RecordStore

/// Numbers in place of names that repeat in every record, and record types, kept until somebody
/// else writes.
extension WriterTransaction {
    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        var types: [StoredType?] = []
        types.reserveCapacity(names.count)
        for name in names { types.append(try self.storedType(named: name, in: environment)) }
        return types
    }

    private func storedType(
        named name: String,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> StoredType? {
        let key = WriterCaches.Name(owner: environment.rawValue, name: name)
        if let last = self.caches.lastStoredType, last.name == key { return last.type }
        if let known = self.caches.types[key] {
            self.caches.lastStoredType = (key, known)
            return known
        }
        guard let type = try StoredType.types(named: [name], in: environment, from: self)[0] else {
            return nil
        }
        self.caches.types[key] = type
        self.caches.lastStoredType = (key, type)
        return type
    }

    /// The number that stands for the name of a type, whether the schema has the type or not.
    func typeNumber(_ type: String, in environment: EnvironmentID) throws(StorageFailure) -> Int64 {
        let key = WriterCaches.Name(owner: environment.rawValue, name: type)
        if let known = try self.knownTypeNumber(key) { return known }
        self.statements.names.insertType.bind(1, environment.rawValue)
        self.statements.names.insertType.bind(2, type)
        try self.statements.names.insertType.run()
        guard let number = try self.knownTypeNumber(key) else { throw .unexpected(code: SQLITE_NOTFOUND) }
        return number
    }

    private func knownTypeNumber(_ key: WriterCaches.Name) throws(StorageFailure) -> Int64? {
        if let last = self.caches.lastType, last.name == key { return last.number }
        if let known = self.caches.typeNumbers[key] {
            self.caches.lastType = (key, known)
            return known
        }
        let statement = self.statements.names.typeNumber
        statement.bind(1, key.owner)
        statement.bind(2, key.name)
        guard try statement.step() else { return nil }
        let number = statement.integer(0)
        statement.reset()
        self.caches.typeNumbers[key] = number
        return number
    }

    func typeName(_ number: Int64) throws(StorageFailure) -> String {
        if let last = self.caches.lastTypeName, last.number == number { return last.name }
        if let known = self.caches.typeNames[number] {
            self.caches.lastTypeName = (number, known)
            return known
        }
        let name = try self.statements.names.name(self.statements.names.typeName, number: number)
        self.caches.typeNames[number] = name
        return name
    }

    func authorNumber(_ recordName: String) throws(StorageFailure) -> Int64 {
        if let last = self.caches.lastAuthor, last.name == recordName { return last.number }
        if let known = self.caches.authorNumbers[recordName] {
            self.caches.lastAuthor = (recordName, known)
            return known
        }
        self.statements.names.insertAuthor.bind(1, recordName)
        try self.statements.names.insertAuthor.run()
        let statement = self.statements.names.authorNumber
        statement.bind(1, recordName)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        let number = statement.integer(0)
        statement.reset()
        self.caches.authorNumbers[recordName] = number
        return number
    }

    func authorName(_ number: Int64) throws(StorageFailure) -> String {
        if let last = self.caches.lastAuthorName, last.number == number { return last.name }
        if let known = self.caches.authorNames[number] {
            self.caches.lastAuthorName = (number, known)
            return known
        }
        let name = try self.statements.names.name(self.statements.names.authorName, number: number)
        self.caches.authorNames[number] = name
        return name
    }
}
