import GRDBSQLite
import RecordModel
import RecordStore

/// Numbers in place of names that repeat in every record, and the fields of record types.
extension WriterTransaction {
    func fields(
        ofType type: String,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> FieldDefinitions {
        let key = WriterCaches.Name(owner: environment.rawValue, name: type)
        if let known = self.caches.fields[key] { return known }
        var fields = FieldDefinitions()
        if let number = try self.knownTypeNumber(key) {
            let statement = self.statements.names.fields
            statement.bind(1, number)
            while try statement.step() {
                guard let type = FieldType(rawValue: UInt8(truncatingIfNeeded: statement.integer(1))) else {
                    statement.reset()
                    throw .unexpected(code: SQLITE_MISMATCH)
                }
                let definition = FieldDefinition(type: type, isEncrypted: statement.integer(2) != 0)
                fields.define(definition, field: statement.text(0))
            }
        }
        self.caches.fields[key] = fields
        return fields
    }

    func define(
        _ definition: FieldDefinition,
        field: String,
        ofType type: String,
        in environment: EnvironmentID
    ) throws(StorageFailure) {
        let statement = self.statements.names.insertField
        statement.bind(1, try self.typeNumber(type, in: environment))
        statement.bind(2, field)
        statement.bind(3, Int64(definition.type.rawValue))
        statement.bind(4, definition.isEncrypted ? 1 : 0)
        try statement.run()
        let key = WriterCaches.Name(owner: environment.rawValue, name: type)
        self.caches.fields[key, default: FieldDefinitions()].define(definition, field: field)
    }

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
