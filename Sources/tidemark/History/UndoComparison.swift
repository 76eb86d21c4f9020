import RecordModel
import RecordStore

/// A record of a plan beside what it is now.
struct ComparedItem {
    var id: RecordID
    var item: UndoPlan.Item
    var step: UndoStep
    /// The system fields that the record had; `nil` if it was not there.
    var system: SystemFields?
    /// Of the record that is there; `nil` if none is.
    var changeTag: String?

    /// Whether the record stays as it is because somebody changed it later.
    func isKept(overridingLater: Bool) -> Bool { self.item.laterAuthor != nil && !overridingLater }
}

extension ZonePast {
    /// Compares what some records of a plan were with what they are, at most `changesMax`.
    ///
    /// - Throws: `data` if what they were has become too old meanwhile.
    func compare(_ items: some Collection<UndoPlan.Item>) async throws -> [ComparedItem] {
        let items = Array(items)
        let past = try await self.records(before: items.map(\.position))
        let ids = items.map { RecordID(zone: self.zone, recordName: $0.recordName) }
        let outcomes = try await self.database.fetch(ids)
        var compared: [ComparedItem] = []
        for (offset, item) in items.enumerated() {
            guard item.wasThere == (past[offset] != nil) else {
                throw CommandFailure(
                    .data,
                    "the history of the zone has become shorter meanwhile: what '\(item.recordName)' was is gone. "
                        + "Begin anew, with a later time."
                )
            }
            let current: Record?
            switch outcomes[offset] {
            case .record(let record): current = record
            case .failed(.recordMissing): current = nil
            case .failed(let error):
                throw RecordAdvice.failure(error, doing: "the record '\(item.recordName)' cannot be read")
            case .zone, .shareMetadata, .identity, .explanation: continue
            }
            compared.append(
                ComparedItem(
                    id: ids[offset],
                    item: item,
                    step: UndoStep(ids[offset], from: past[offset], to: current),
                    system: past[offset]?.system,
                    changeTag: current?.changeTag
                )
            )
        }
        return compared
    }
}

/// The effect of an undo, planned or done, in numbers.
struct UndoCounts: Encodable {
    var created = 0
    var changed = 0
    var deleted = 0
    /// Records that are as they were.
    var unchanged = 0
    /// Records that somebody else changed later, and that stay as they are.
    var kept = 0

    var total: Int { self.created + self.changed + self.deleted }

    mutating func add(_ step: UndoStep) {
        switch step {
        case .none: self.unchanged += 1
        case .create: self.created += 1
        case .change: self.changed += 1
        case .delete: self.deleted += 1
        case .refuse: break
        }
    }

    var text: String {
        let parts = [
            (self.created, "made again"), (self.changed, "changed back"), (self.deleted, "deleted"),
            (self.kept, "kept as others left them"), (self.unchanged, "unchanged"),
        ]
        let named = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return named.isEmpty ? "nothing to undo" : "records: " + named.joined(separator: ", ")
    }
}
