import RecordModel
import RecordStore
import StorageContract
import Testing

/// The state of a zone, by record name, as an undo gives it back.
struct ZoneState: Hashable, Sendable {
    struct Contents: Hashable, Sendable {
        var recordType: String
        var parent: String?
        var body: RecordBody
    }

    var records: [String: Contents] = [:]
}

/// The outcome of an undo.
struct UndoneZone {
    var plan: UndoPlan
    /// The position before it.
    var position: Int64
    /// Records that were left as others made them.
    var kept: [String] = []
    var errors: [StoreError] = []
}

extension EngineUnderTest {
    func keepHistory(days: Int = 30) throws {
        try self.store.directory.setHistoryDays(days, ofContainer: Self.container)
    }

    func history(of zone: ZoneID = notes, by requester: Requester? = nil) -> ZoneUnderTest {
        ZoneUnderTest(it: self, zone: zone, requester: requester ?? self.privately)
    }
}

/// A zone with its history, as somebody sees it.
struct ZoneUnderTest {
    let it: EngineUnderTest
    let zone: ZoneID
    let requester: Requester

    func extent() async throws(StoreError) -> HistoryExtent? {
        let result = await withCheckedContinuation { continuation in
            self.it.store.historyExtent(of: self.zone, for: self.requester) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()
    }

    /// All changes behind a position, read in small pages.
    func changes(after position: Int64 = 0) async throws(StoreError) -> [PastChange] {
        var changes: [PastChange] = []
        while true {
            let after = changes.last?.position ?? position
            let result = await withCheckedContinuation { continuation in
                self.it.store.pastChanges(of: self.zone, after: after, limit: 7, for: self.requester) {
                    continuation.resume(returning: $0)
                }
            }
            let page = try result.get()
            changes += page
            if page.count < 7 { return changes }
        }
    }

    func records(before positions: [Int64]) async throws(StoreError) -> [PastRecord?] {
        let result = await withCheckedContinuation { continuation in
            self.it.store.pastRecords(of: self.zone, before: positions, for: self.requester) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()
    }

    /// The state of a zone now.
    func state() async throws -> ZoneState {
        var state = ZoneState()
        var read = FeedRead(zone: self.zone)
        while true {
            let page = try await self.it.changes(read, by: self.requester)
            for case .record(let record) in page.items {
                state.records[record.id.recordName] = ZoneState.Contents(
                    recordType: record.recordType,
                    parent: record.parent,
                    body: record.body
                )
            }
            guard page.moreComing else { return state }
            read.token = page.token
        }
    }

    /// The state of a zone at a position, from its state now and its history.
    func state(at position: Int64) async throws -> ZoneState {
        var plan = UndoPlan(to: .position(position))
        for change in try await self.changes(after: position) {
            plan.add(change)
        }
        var state = try await self.state()
        let past = try await self.records(before: plan.items.map(\.position))
        for (item, record) in zip(plan.items, past) {
            state.records[item.recordName] = record.map {
                ZoneState.Contents(recordType: $0.recordType, parent: $0.parent, body: $0.body)
            }
        }
        return state
    }

    /// Undoes changes of a zone as the command does: saves before deletes, each in one request.
    @discardableResult
    func undo(
        to target: UndoTarget,
        of author: ChangeAuthor? = nil,
        overridingLater: Bool = false
    ) async throws -> UndoneZone {
        let before = try #require(try await self.extent()).position
        var plan = UndoPlan(to: target, by: author)
        for change in try await self.changes() { plan.add(change) }
        var undone = UndoneZone(plan: plan, position: before)
        let ids = plan.items.map { id($0.recordName, in: self.zone) }
        var reader = self.requester
        reader.isOperator = reader.scope == .public
        let outcomes = ids.isEmpty ? [] : try await self.it.fetch(ids, by: reader)
        let past = try await self.records(before: plan.items.map(\.position))
        var (saves, deletes): ([RecordSave], [RecordID]) = ([], [])
        var restored = UndoneRecords(creations: [:])
        for (offset, item) in plan.items.enumerated() {
            var current: Record?
            if case .record(let record) = outcomes[offset] { current = record }
            let step = UndoStep(ids[offset], from: past[offset], to: current)
            if step != .none, item.laterAuthor != nil, !overridingLater {
                undone.kept.append(item.recordName)
                continue
            }
            switch step {
            case .none, .refuse: continue
            case .create(let save):
                saves.append(save)
                restored.creations[ExactName(item.recordName)] = past[offset]?.system
            case .change(let save, _): saves.append(save)
            case .delete: deletes.append(ids[offset])
            }
        }
        for (saves, deletes) in [(saves, []), ([], deletes)] where !saves.isEmpty || !deletes.isEmpty {
            let operation = ModifyRecords(
                scope: self.requester.scope,
                saves: saves,
                deletes: deletes,
                isAtomic: false
            )
            var request = self.it.request(.modifyRecords(operation), by: self.requester)
            request.restored = restored
            let outcomes = try await withCheckedContinuation { [request] continuation in
                self.it.store.write(request) { continuation.resume(returning: $0) }
            }.get()
            undone.errors += outcomes.compactMap(\.error)
        }
        return undone
    }
}
