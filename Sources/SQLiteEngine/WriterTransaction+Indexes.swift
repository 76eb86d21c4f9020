import GRDBSQLite
import RecordModel
import RecordStore

/// Entries of indexes, and the numbers of indexes.
extension WriterTransaction {
    func addEntry(_ entry: IndexEntry, record: Int64, in zone: ZoneKey) throws(StorageFailure) {
        try self.run(self.statements.indexes.add, entry, record, zone)
    }

    func removeEntry(_ entry: IndexEntry, record: Int64, in zone: ZoneKey) throws(StorageFailure) {
        try self.run(self.statements.indexes.remove, entry, record, zone)
    }

    private func run(
        _ statement: HotStatement,
        _ entry: IndexEntry,
        _ record: Int64,
        _ zone: ZoneKey
    ) throws(StorageFailure) {
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, entry.index)
        statement.bind(5, record)
        try statement.run(bytes: entry.value, at: 4)
    }

    /// Changes what a query may ask of a field, or of a system field, of a type that exists.
    ///
    /// A new index is filled in the background, and may be used when it has no row in `index_build` any more; one that is dropped
    /// may not be used from now on. A system field needs no row for it; a field of users that has none is left alone.
    func setIndexes(
        _ indexes: IndexKinds,
        ofField field: String,
        ofType type: String,
        in environment: EnvironmentID
    ) throws(StorageFailure) {
        let number = try self.typeNumber(type, in: environment)
        let definitions = try self.fields(ofType: type, in: environment)
        let system = SystemField(rawValue: field)
        let added = system.map { FieldDefinition(type: $0.type, isEncrypted: false) }
        guard let old = definitions[field] ?? added, old.indexes != indexes else { return }
        var new = old
        new.indexes = indexes
        if !new.needsIndex(field) {
            try self.dropIndex(old.index)
            new.index = nil
        } else if old.index == nil {
            new.index = try self.makeIndex(ofType: number)
        }
        try self.setField(field, new, ofType: number)
        if system == nil, old.indexes.symmetricDifference(indexes).contains(.searchable) {
            let isLeft = definitions.all.contains { name, definition in
                name != field && SystemField(rawValue: name) == nil
                    && definition.indexes.contains(.searchable)
            }
            let hasText = isLeft || indexes.contains(.searchable)
            try self.renewAllText(old: definitions[SystemField.allText.rawValue], hasText, ofType: number)
        }
        self.caches.fields[WriterCaches.Name(owner: environment.rawValue, name: type)] = nil
    }

    /// Other fields than before are in the full text, so it is made again from nothing.
    private func renewAllText(
        old: FieldDefinition?,
        _ hasText: Bool,
        ofType type: Int64
    ) throws(StorageFailure) {
        try self.dropIndex(old?.index)
        var new = FieldDefinition.allText
        if hasText {
            new.index = try self.makeIndex(ofType: type)
            try self.setField(SystemField.allText.rawValue, new, ofType: type)
        } else {
            self.statements.indexes.deleteField.bind(1, type)
            self.statements.indexes.deleteField.bind(2, SystemField.allText.rawValue)
            try self.statements.indexes.deleteField.run()
        }
    }

    private func setField(
        _ field: String,
        _ definition: FieldDefinition,
        ofType type: Int64
    ) throws(StorageFailure) {
        let statement = self.statements.indexes.setField
        statement.bind(1, type)
        statement.bind(2, field)
        statement.bind(3, Int64(definition.type.rawValue))
        statement.bind(4, definition.isEncrypted ? 1 : 0)
        statement.bind(5, Int64(definition.indexes.rawValue))
        statement.bind(6, definition.index)
        try statement.run()
    }

    /// Returns the number of an index that has yet to be filled, unless its type has no records.
    private func makeIndex(ofType type: Int64) throws(StorageFailure) -> Int64 {
        let number = try self.takeIndexNumber()
        guard !self.typesMade.contains(type) else { return number }
        self.statements.indexes.insertBuild.bind(1, number)
        try self.statements.indexes.insertBuild.run()
        self.mayHaveIndexWork = true
        return number
    }

    private func dropIndex(_ number: Int64?) throws(StorageFailure) {
        guard let number else { return }
        self.statements.indexes.deleteBuild.bind(1, number)
        try self.statements.indexes.deleteBuild.run()
        self.statements.indexes.insertRemoval.bind(1, number)
        try self.statements.indexes.insertRemoval.run()
        self.mayHaveIndexWork = true
    }

    /// A number that no index ever had.
    func takeIndexNumber() throws(StorageFailure) -> Int64 {
        let statement = self.statements.indexes.takeNumber
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        return statement.integer(0)
    }
}

extension FieldDefinition {
    /// The full text of a type: made with its first searchable field.
    static let allText = FieldDefinition(
        type: SystemField.allText.type,
        isEncrypted: false,
        indexes: .searchable
    )

    /// Whether values of the field have entries, given its marks.
    ///
    /// Record names and parents always have: a listing of every type, and the children of a record.
    func needsIndex(_ field: String) -> Bool {
        switch SystemField(rawValue: field) {
        case .recordID, .parent: true
        case .allText: self.indexes.contains(.searchable)
        case .createTime, .createdBy, .modTime, .modifiedBy, .etag, nil:
            !self.indexes.isDisjoint(with: [.queryable, .sortable])
        }
    }
}
