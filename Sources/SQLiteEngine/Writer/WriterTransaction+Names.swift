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
        if let last = self.caches.lastFields, last.name == key { return last.fields }
        if let known = self.caches.fields[key] {
            self.caches.lastFields = (key, known)
            return known
        }
        var rows: [(key: String, value: FieldDefinition)] = []
        if let number = try self.knownTypeNumber(key) {
            let statement = self.statements.names.fields
            statement.bind(1, number)
            while try statement.step() {
                guard let type = FieldType(rawValue: UInt8(truncatingIfNeeded: statement.integer(1))) else {
                    statement.reset()
                    throw .unexpected(code: SQLITE_MISMATCH)
                }
                let definition = FieldDefinition(
                    type: type,
                    isNumber: FieldColumn.isNumber(declared: statement.integer(5)),
                    isEncrypted: statement.integer(2) != 0,
                    indexes: IndexKinds(rawValue: UInt8(truncatingIfNeeded: statement.integer(3))),
                    index: statement.isNull(4) ? nil : statement.integer(4)
                )
                rows.append((statement.text(0), definition))
            }
        }
        var fields = FieldDefinitions()
        fields.define(rows)
        self.caches.fields[key] = fields
        return fields
    }

    func define(
        _ fields: [String: FieldDefinition],
        ofType type: String,
        in environment: EnvironmentID
    ) throws(StorageFailure) {
        self.workDone += fields.count * 3
        var fields = fields
        // No record has a searchable field yet when the type has no full text yet, so it is complete from the start.
        let allText = SystemField.allText.rawValue
        if fields.values.contains(where: { $0.indexes.contains(.searchable) }),
            try self.fields(ofType: type, in: environment)[allText] == nil
        {
            fields[allText] = .allText
        }
        let key = WriterCaches.Name(owner: environment.rawValue, name: type)
        try self.insert(fields, ofType: try self.typeNumber(type, in: environment), key)
    }

    func defineType(_ type: String, in environment: EnvironmentID) throws(StorageFailure) {
        let number = try self.typeNumber(type, in: environment)
        let key = WriterCaches.Name(owner: environment.rawValue, name: type)
        var fields: [String: FieldDefinition] = [:]
        for field in [SystemField.recordID, .createTime, .parent] {
            fields[field.rawValue] = FieldDefinition(
                type: field.type,
                isEncrypted: false,
                indexes: .justInTime(for: field)
            )
        }
        try self.insert(fields, ofType: number, key)
        for grant in SchemaRules.defaultGrants {
            self.statements.names.insertGrant.bind(1, number)
            self.statements.names.insertGrant.bind(2, grant.role)
            self.statements.names.insertGrant.bind(3, Int64(grant.permissions.rawValue))
            try self.statements.names.insertGrant.run()
        }
        self.caches.grants[key] = nil
        if let count = self.caches.typeCounts[environment] { self.caches.typeCounts[environment] = count + 1 }
    }

    func countOfTypes(in environment: EnvironmentID) throws(StorageFailure) -> Int {
        if let known = self.caches.typeCounts[environment] { return known }
        let statement = self.statements.names.countTypes
        statement.bind(1, environment.rawValue)
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        let count = Int(statement.integer(0))
        statement.reset()
        self.caches.typeCounts[environment] = count
        return count
    }

    /// Writes fields, with the number of a new index where their marks ask for one: of no record they have values yet.
    private func insert(
        _ fields: [String: FieldDefinition],
        ofType type: Int64,
        _ key: WriterCaches.Name
    ) throws(StorageFailure) {
        var fields = fields
        let indexCount = fields.count { $0.value.needsIndex($0.key) }
        var nextIndex = indexCount > 0 ? try self.takeIndexNumbers(indexCount) : 0
        let statement = self.statements.names.insertField
        for field in fields.keys.sorted() {
            guard var definition = fields[field] else { continue }
            if definition.needsIndex(field) {
                definition.index = nextIndex
                nextIndex += 1
            }
            statement.bind(1, type)
            statement.bind(2, field)
            statement.bind(3, Int64(definition.type.rawValue))
            statement.bind(4, definition.isEncrypted ? 1 : 0)
            statement.bind(5, Int64(definition.indexes.rawValue))
            statement.bind(6, definition.index)
            try statement.run()
            fields[field] = definition
        }
        // Nobody else may hold what is changed in place.
        self.caches.lastFields = nil
        self.caches.fields[key]?.define(fields)
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
