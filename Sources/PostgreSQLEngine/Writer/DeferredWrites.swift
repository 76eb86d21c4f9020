import RecordModel
import RecordStore

/// Rows of records and outcomes that a transaction has still to send.
///
/// Jobs of one commit mostly save a record or two of a few zones. Their rows leave together, a statement
/// for each kind and zone, before any other statement of the transaction and before each wait. So a
/// statement finds what was written before it, and a failure comes where it would come anyway.
final class DeferredWrites {
    struct CreatedRecord {
        let name: String
        let type: Int64
        let creator: Int64
        let modifier: Int64
        let record: StoredRecord
    }

    struct UpdatedRecord {
        let modifier: Int64
        let record: StoredRecord
    }

    /// The rows of one zone.
    struct Zone {
        var created: [CreatedRecord] = []
        var updated: [UpdatedRecord] = []
        /// The place of a record in `updated`, by its number.
        fileprivate var places: [Int64: Int] = [:]
        /// Positions that are left, and were there before.
        var left: [Int64] = []
        /// Records at their new positions.
        var changes: [Int64: Int64] = [:]
    }

    private var zones: [ZoneKey: Zone] = [:]
    private var outcomes: [[ColumnValue]] = []

    var isEmpty: Bool { self.zones.isEmpty && self.outcomes.isEmpty }

    func create(_ records: [CreatedRecord], in zone: ZoneKey) {
        self.zones[zone, default: Zone()].created += records
    }

    /// The last row of a record is the one that is written.
    func update(_ records: [UpdatedRecord], in zone: ZoneKey) {
        var zoneRows = self.zones.removeValue(forKey: zone) ?? Zone()
        for updated in records {
            let number = updated.record.number
            if let place = zoneRows.places[number] {
                zoneRows.updated[place] = updated
            } else {
                zoneRows.places[number] = zoneRows.updated.count
                zoneRows.updated.append(updated)
            }
        }
        self.zones[zone] = zoneRows
    }

    /// Takes records out of the order of changes, and puts them in at their new positions.
    func move(_ changes: [(record: Int64, position: Int64)], from left: [Int64], in zone: ZoneKey) {
        var zoneRows = self.zones.removeValue(forKey: zone) ?? Zone()
        // A position that was never sent is not there to be removed.
        for position in left where zoneRows.changes.removeValue(forKey: position) == nil {
            zoneRows.left.append(position)
        }
        for change in changes { zoneRows.changes[change.position] = change.record }
        self.zones[zone] = zoneRows
    }

    /// Puts an outcome of a request, of which there is none yet.
    func put(outcome row: [ColumnValue]) { self.outcomes.append(row) }

    func take() -> (zones: [ZoneKey: Zone], outcomes: [[ColumnValue]]) {
        defer { self.forget() }
        return (self.zones, self.outcomes)
    }

    func forget() {
        self.zones = [:]
        self.outcomes = []
    }
}
