package import RecordModel
package import RecordStore
import StorageContract

/// A record of a plan beside what it is now.
package struct ComparedItem: Sendable {
    package var id: RecordID
    package var item: UndoPlan.Item
    package var step: UndoStep
    /// The system fields that the record had; `nil` if it was not there.
    package var system: SystemFields?
    /// The tag of the present record; `nil` if there is none.
    package var changeTag: String?

    /// Whether the record stays as it is because another user changed it later.
    package func isKept(overridingLater: Bool) -> Bool { self.item.laterAuthor != nil && !overridingLater }
}

extension ZonePast {
    /// Compares what some records of a plan were with what they are, at most `changesMax`.
    ///
    /// - Throws: `HistoryError` if what they were has become too old meanwhile.
    package func compare(_ items: some Collection<UndoPlan.Item>) async throws -> [ComparedItem] {
        let items = Array(items)
        let past = try await self.records(before: items.map(\.position))
        let ids = items.map { RecordID(zone: self.zone, recordName: $0.recordName) }
        let outcomes = try await self.database.fetch(ids)
        var compared: [ComparedItem] = []
        for (offset, item) in items.enumerated() {
            guard item.wasThere == (past[offset] != nil) else {
                throw HistoryError.isGone(record: item.recordName)
            }
            let current: Record?
            switch outcomes[offset] {
            case .record(let record): current = record
            case .failed(.recordMissing): current = nil
            case .failed(let error):
                throw HistoryError.record(item.recordName, error)
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
package struct UndoCounts: Encodable, Sendable {
    package var created = 0
    package var changed = 0
    package var deleted = 0
    /// Records that are as they were.
    package var unchanged = 0
    /// Records that another user changed later, and that stay as they are.
    package var kept = 0

    package var total: Int { self.created + self.changed + self.deleted }

    mutating func add(_ step: UndoStep) {
        switch step {
        case .none: self.unchanged += 1
        case .create: self.created += 1
        case .change: self.changed += 1
        case .delete: self.deleted += 1
        case .refuse: break
        }
    }
}
