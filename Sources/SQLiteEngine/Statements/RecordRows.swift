import RecordModel
import StorageContract

/// Resolves the numbers of record types and users in rows of records to names.
protocol RowNames: AnyObject {
    /// The name of a record type.
    func typeName(_ number: Int64) throws(StorageFailure) -> String
    /// The record name of a user; empty if there is none.
    func authorName(_ number: Int64) throws(StorageFailure) -> String
}

/// Columns of a record, as used by writer and readers.
enum RecordColumns {
    static let names = "type, position, created_ms, modified_ms, creator, modifier, parent, body, number"
    static let select = "SELECT \(names) FROM record WHERE database = ? AND zone = ? AND name = ?"
    /// Offsets of columns, and their count.
    static let type: Int32 = 0
    static let position: Int32 = 1
    static let created: Int32 = 2
    static let modified: Int32 = 3
    static let creator: Int32 = 4
    static let modifier: Int32 = 5
    static let parent: Int32 = 6
    static let body: Int32 = 7
    static let number: Int32 = 8
    static let count: Int32 = 9
}

extension HotStatement {
    /// Reads one record by name with the statement of `RecordColumns.select`.
    func record(
        named name: String,
        in zone: ZoneKey,
        _ rowNames: some RowNames
    ) throws(StorageFailure) -> StoredRecord? {
        self.bind(1, zone.database.rawValue)
        self.bind(2, zone.number)
        return try self.boundRecord(named: name, rowNames)
    }

    private func boundRecord(
        named name: String,
        _ rowNames: some RowNames
    ) throws(StorageFailure) -> StoredRecord? {
        self.bind(3, name)
        guard try self.step() else { return nil }
        defer { self.reset() }
        return try self.record(rowNames)
    }

    /// Reads records by name with the statement of `RecordColumns.select`, up to the one that takes
    /// the total size of bodies beyond `bytesMax`.
    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int,
        _ rowNames: some RowNames
    ) throws(StorageFailure) -> [StoredRecord?] {
        self.bind(1, zone.database.rawValue)
        self.bind(2, zone.number)
        var records: [StoredRecord?] = []
        records.reserveCapacity(names.count)
        var bytes = 0
        for name in names {
            let record = try self.boundRecord(named: name, rowNames)
            records.append(record)
            bytes += record?.body.bytes.count ?? 0
            if bytes > bytesMax { break }
        }
        return records
    }

    /// The record in the statement's row, which begins with `RecordColumns.names`.
    func record(_ names: some RowNames) throws(StorageFailure) -> StoredRecord {
        let creator = self.integer(RecordColumns.creator)
        let modifier = self.integer(RecordColumns.modifier)
        let createdBy = try names.authorName(creator)
        return StoredRecord(
            number: self.integer(RecordColumns.number),
            recordType: try names.typeName(self.integer(RecordColumns.type)),
            position: self.integer(RecordColumns.position),
            system: SystemFields(
                createdMilliseconds: self.integer(RecordColumns.created),
                modifiedMilliseconds: self.integer(RecordColumns.modified),
                createdBy: createdBy,
                modifiedBy: modifier == creator ? createdBy : try names.authorName(modifier)
            ),
            parent: self.isNull(RecordColumns.parent) ? nil : self.text(RecordColumns.parent),
            body: RecordBody(trusted: self.bytes(RecordColumns.body))
        )
    }
}
