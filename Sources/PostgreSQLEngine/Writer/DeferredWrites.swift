import RecordModel
import StorageContract

/// Rows of records and outcomes that a transaction has still to send.
///
/// Jobs of one commit mostly save a record or two of a few zones. Their rows are sent together, one
/// statement per kind and zone, before any other statement of the transaction and before each wait.
/// So a statement sees earlier writes, and a failure is reported where it would be anyway.
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
        /// Vacated positions of earlier transactions.
        var left: [Int64] = []
        /// Records at their new positions.
        var changes: [Change] = []
        /// Whether it combines more than one write set.
        fileprivate var hasSeveral = false
    }

    /// A record in the order of changes.
    struct Change {
        let record: Int64
        let position: Int64
    }

    private var zones: [ZoneKey: Zone] = [:]
    private var outcomes: [[ColumnValue]] = []

    var isEmpty: Bool { self.zones.isEmpty && self.outcomes.isEmpty }

    /// Adds the rows of a write set, in which no record occurs twice.
    func add(_ added: Zone, in key: ZoneKey) {
        guard var zone = self.zones.removeValue(forKey: key) else {
            self.zones[key] = added
            return
        }
        zone.created += added.created
        zone.updated += added.updated
        zone.left += added.left
        zone.changes += added.changes
        zone.hasSeveral = true
        self.zones[key] = zone
    }

    /// Adds a new outcome of a request.
    func put(outcome row: [ColumnValue]) { self.outcomes.append(row) }

    func take() -> (zones: [ZoneKey: Zone], outcomes: [[ColumnValue]]) {
        defer { self.forget() }
        return (self.zones.mapValues { $0.hasSeveral ? $0.merged : $0 }, self.outcomes)
    }

    func forget() {
        self.zones = [:]
        self.outcomes = []
    }
}

extension DeferredWrites.Zone {
    /// The rows with each record once, in its last state.
    fileprivate var merged: Self {
        var merged = self
        var indices: [Int64: Int] = [:]
        merged.updated = []
        for row in self.updated {
            if let index = indices[row.record.number] {
                merged.updated[index] = row
            } else {
                indices[row.record.number] = merged.updated.count
                merged.updated.append(row)
            }
        }
        // A position that was never sent need not be removed.
        let sent = Set(self.changes.map(\.position))
        let left = Set(self.left)
        merged.left = self.left.filter { !sent.contains($0) }
        merged.changes = self.changes.filter { !left.contains($0.position) }
        return merged
    }
}
