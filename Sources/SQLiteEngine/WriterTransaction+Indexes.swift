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
