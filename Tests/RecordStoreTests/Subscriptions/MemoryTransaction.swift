import RecordModel
import StorageContract

@testable import RecordStore

/// A transaction over rows in memory, for rules that need no records.
final class MemoryTransaction: MemoryRows, ChangeTransaction {
    struct Note: Equatable {
        var kind: CommittedChange.Kind
        var position: Int64
        var database: DatabaseID
    }

    let tables = MemoryTables()
    var nowMilliseconds: Int64 = 1_000_000
    var positions: [DatabaseID: Int64] = [:]
    var watched: Set<DatabaseID> = []
    private(set) var notes: [Note] = []
    /// What was counted, by database.
    private(set) var rowBytes: [DatabaseID: Int] = [:]

    func takeNotes() -> [Note] {
        defer { self.notes = [] }
        return self.notes
    }

    // MARK: ChangeTransaction

    func takePosition(in database: DatabaseID) -> Int64 {
        self.positions[database, default: 0] += 1
        return self.position(of: database)
    }

    func position(of database: DatabaseID) -> Int64 { self.positions[database] ?? 0 }

    func lastChange(
        inZonesOf database: DatabaseID,
        exceptNamed name: String
    ) throws(StorageFailure) -> Int64 {
        let zones = try self.rows(RowRange(ZoneRow.byKey, database))
        return zones.filter { $0.name != name }.map(\.position).max() ?? 0
    }

    func isWatched(_ database: DatabaseID) -> Bool { self.watched.contains(database) }

    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID) {
        guard self.isWatched(database) else { return }
        self.notes.append(Note(kind: kind, position: position, database: database))
    }

    // MARK: UsageTransaction

    func count(_ growth: StoredAmount, in database: DatabaseID) {
        self.rowBytes[database, default: 0] += Int(growth.rowBytes)
    }

    func count(rowBytes: Int, in zone: ZoneKey) { self.rowBytes[zone.database, default: 0] += rowBytes }

    func bytesStored(under quota: Quota, with database: DatabaseID) -> Int64? { nil }
}
