import RecordModel
package import RecordStore
import StorageContract

/// An undo: everything is compared, and then written a batch at a time, saves before deletes.
///
/// A record that refers to one which is not there yet waits for the next round, and so does a delete that
/// a reference prevents. Rounds go on as long as each of them writes something.
package struct UndoRun: Sendable {
    /// A record that is to be written.
    package struct Pending: Sendable {
        var item: UndoPlan.Item
        /// The tag of the record when it was compared; if it has another one now, a client changed it.
        var changeTag: String?
        var isDelete: Bool
    }

    package let past: ZonePast
    private let overridesLater: Bool
    package private(set) var counts = UndoCounts()
    package private(set) var failures = ItemFailures()
    /// The first of the records that other users changed later.
    package private(set) var kept: [UndoPlan.Item] = []
    package private(set) var pending: [Pending] = []
    private var progress: Progress

    private static let keptMax = 1_000

    /// Makes an undo that has not begun.
    ///
    /// With `overridesLater`, records that other users changed later go back, too. `showProgress` gets the
    /// number of records that are compared or written, and their total.
    package init(
        _ past: ZonePast,
        overridesLater: Bool,
        showProgress: @escaping @Sendable (Int64, Int64) -> Void
    ) {
        self.past = past
        self.overridesLater = overridesLater
        self.progress = Progress(showProgress)
    }

    // MARK: Comparing

    /// Compares all records of a plan with what they were; `visit` gets each, in the plan's order.
    package mutating func compare(
        _ plan: UndoPlan,
        _ visit: (ComparedItem) -> Void = { _ in }
    ) async throws {
        self.progress.begin(Int64(plan.items.count))
        for start in stride(from: 0, to: plan.items.count, by: ZonePast.changesMax) {
            let items = plan.items[start..<min(start + ZonePast.changesMax, plan.items.count)]
            for compared in try await self.past.compare(items) {
                self.add(compared)
                visit(compared)
            }
            self.progress.add(items.count)
        }
    }

    private mutating func add(_ compared: ComparedItem) {
        let item = compared.item
        if compared.step != .none, compared.isKept(overridingLater: self.overridesLater) {
            self.counts.kept += 1
            if self.kept.count < Self.keptMax { self.kept.append(item) }
            return
        }
        self.counts.add(compared.step)
        switch compared.step {
        case .none: return
        case .refuse(let type):
            self.failures.add(
                ItemFailure(record: item.recordName, reason: .hasTypeNow(type))
            )
        case .create, .change, .delete:
            self.pending.append(
                Pending(item: item, changeTag: compared.changeTag, isDelete: compared.step == .delete)
            )
        }
    }

    // MARK: Writing

    /// Writes the records that were compared.
    package mutating func write() async throws {
        self.counts = UndoCounts(unchanged: self.counts.unchanged, kept: self.counts.kept)
        self.progress.begin(Int64(self.pending.count))
        for isDelete in [false, true] {
            var left = self.pending.filter { $0.isDelete == isDelete }
            while !left.isEmpty {
                let count = left.count
                let waiting = try await self.writeRound(left)
                left = waiting.map(\.pending)
                guard left.count < count else {
                    for one in waiting { self.failures.add(one.failure) }
                    break
                }
            }
        }
    }

    /// A record that has to wait for the write of another.
    private struct Waiting {
        var pending: Pending
        var failure: ItemFailure
    }

    private mutating func writeRound(_ pending: [Pending]) async throws -> [Waiting] {
        var waiting: [Waiting] = []
        var batch = UndoBatch(self.past.database.bounds)
        for start in stride(from: 0, to: pending.count, by: ZonePast.changesMax) {
            let some = pending[start..<min(start + ZonePast.changesMax, pending.count)]
            for (pending, compared) in zip(some, try await self.past.compare(some.map(\.item))) {
                guard compared.changeTag == pending.changeTag else {
                    self.changedMeanwhile(compared, pending)
                    continue
                }
                if !batch.hasRoom(for: compared.step) { waiting += try await self.write(&batch) }
                batch.add(pending, compared)
            }
        }
        return waiting + (try await self.write(&batch))
    }

    /// Leaves a record that changed since it was compared: a failure, unless the undo would make it the same.
    private mutating func changedMeanwhile(_ compared: ComparedItem, _ pending: Pending) {
        self.progress.add(1)
        guard compared.step != .none else { return self.count(pending) }
        self.failures.add(
            ItemFailure(record: pending.item.recordName, reason: .changedMeanwhile)
        )
    }

    private mutating func write(_ batch: inout UndoBatch) async throws -> [Waiting] {
        guard !batch.isEmpty else { return [] }
        let items = batch.items
        let operation = ModifyRecords(
            scope: self.past.database.requester.scope,
            saves: batch.saves,
            deletes: batch.deletes,
            policy: .ifServerRecordUnchanged,
            isAtomic: false
        )
        let bytes = batch.bytes
        let restored = UndoneRecords(creations: batch.creations)
        batch = UndoBatch(self.past.database.bounds)
        let outcomes = try await self.past.writer.write(
            .modifyRecords(operation),
            bytes: bytes,
            restored: restored
        )
        var waiting: [Waiting] = []
        for (pending, outcome) in zip(items, outcomes) {
            guard case .failed(let error) = outcome else {
                self.progress.add(1)
                self.count(pending)
                continue
            }
            let failure = ItemFailure(record: pending.item.recordName, error: error)
            switch error {
            case .referenceTargetMissing, .dependsOn, .referenceWouldDangle:
                waiting.append(Waiting(pending: pending, failure: failure))
            // The next records would meet it as well.
            case .quotaExceeded, .diskFull: throw error
            default: self.failures.add(failure)
            }
        }
        return waiting
    }

    private mutating func count(_ pending: Pending) {
        if pending.isDelete {
            self.counts.deleted += 1
        } else if pending.changeTag == nil {
            self.counts.created += 1
        } else {
            self.counts.changed += 1
        }
    }
}

/// Records that are written back in one request: saves, or deletes.
private struct UndoBatch {
    private let itemsMax: Int
    /// Of bodies; leaves room for the rest of a request.
    private let bytesMax: Int
    private(set) var items: [UndoRun.Pending] = []
    private(set) var saves: [RecordSave] = []
    private(set) var deletes: [RecordID] = []
    private(set) var creations: [ExactName: SystemFields] = [:]
    private(set) var bytes = 0

    init(_ bounds: Bounds) {
        self.itemsMax = bounds.requestItemsMax
        self.bytesMax = bounds.requestBytesMax * 3 / 4
    }

    var isEmpty: Bool { self.items.isEmpty }

    func hasRoom(for step: UndoStep) -> Bool {
        self.items.isEmpty
            || (self.items.count < self.itemsMax && self.bytes + step.bodyBytes <= self.bytesMax)
    }

    mutating func add(_ pending: UndoRun.Pending, _ compared: ComparedItem) {
        switch compared.step {
        case .create(let save):
            self.saves.append(save)
            self.creations[ExactName(save.id.recordName)] = compared.system
        case .change(let save, _): self.saves.append(save)
        case .delete: self.deletes.append(compared.id)
        case .none, .refuse: return
        }
        self.items.append(pending)
        self.bytes += compared.step.bodyBytes
    }
}

extension UndoStep {
    fileprivate var bodyBytes: Int {
        switch self {
        case .create(let save), .change(let save, _): save.changes.bytes.count
        case .none, .delete, .refuse: 0
        }
    }
}
