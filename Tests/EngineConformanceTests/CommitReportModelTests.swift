import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Random changes, and an observer that knows only what existed when it began and what was reported
/// since.
///
/// `SEED=… swift test --filter CommitReportModelTests` repeats a run.
@Suite(.timeLimit(.minutes(10)))
struct CommitReportModelTests {
    private static let names = (0..<12).map { "r\($0)" }
    private static let zones = ["notes", "other"].map { ZoneID(zoneName: $0) }
    private static let subscriptionIDs = (0..<8).map { "s\($0)" }

    /// What a database has, by what was told of it.
    private struct Told: Equatable {
        var records: [RecordID: StoredRecord] = [:]
        var zones: Set<String> = []
        var subscriptions: [String: RecordModel.Subscription] = [:]
        var keys: [String: SubscriptionKey] = [:]
        var position: Int64 = 0

        mutating func apply(_ change: CommittedChange, _ place: Comment) {
            #expect(change.position >= self.position, place)
            self.position = change.position
            switch change.kind {
            case .record(let record):
                let zone = ZoneID(zoneName: record.zone)
                let id = RecordID(zone: zone, recordName: record.name)
                #expect(record.before?.unnumbered == self.records[id], place)
                #expect(record.before != nil || record.after != nil, place)
                self.records[id] = record.after?.unnumbered
            case .zoneCreated(let name):
                #expect(self.zones.insert(name).inserted, place)
            case .zoneChanged(let name):
                Issue.record("\(name) is no zone of somebody else")
            case .zoneDeleted(let name):
                #expect(self.zones.remove(name) != nil, place)
                self.records = self.records.filter { $0.key.zone.zoneName != name }
            case .subscriptionSaved(let saved):
                self.subscriptions[saved.key.id] = saved.subscription
                self.keys[saved.key.id] = saved.key
            case .subscriptionDeleted(let key):
                #expect(self.keys[key.id] == key, place)
                self.subscriptions[key.id] = nil
                self.keys[key.id] = nil
            }
        }
    }

    /// Which zones changed, by what was told.
    private struct ToldZones {
        /// The position behind which it is known.
        let start: Int64
        /// The last change of each zone that is there.
        private var last: [String: Int64] = [:]
        private var deletions: [ChangeTail.ZoneChange] = []

        init(start: Int64) { self.start = start }

        mutating func apply(_ change: CommittedChange) {
            switch change.kind {
            case .record(let record): self.last[record.zone] = change.position
            case .zoneCreated(let name), .zoneChanged(let name): self.last[name] = change.position
            case .zoneDeleted(let name):
                self.last[name] = nil
                self.deletions.append(
                    ChangeTail.ZoneChange(position: change.position, zone: name, isDeletion: true)
                )
            case .subscriptionSaved, .subscriptionDeleted: break
            }
        }

        /// What a tail has to say.
        func after(_ position: Int64) -> [ChangeTail.ZoneChange] {
            let changes = self.last.map {
                ChangeTail.ZoneChange(position: $0.value, zone: $0.key, isDeletion: false)
            }
            return (changes + self.deletions).filter { $0.position > position }
                .sorted { $0.position < $1.position }
        }
    }

    @Test(arguments: EngineKind.modelCases)
    func `the changes that are reported make what is stored`(kind: EngineKind) async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        var it = try await EngineUnderTest.withNotes(kind)
        for restart in 0..<3 {
            var told = try await Self.state(it)
            let reports = it.reports()
            let start = try await it.startWatching()
            let database = it.privately.database
            var zones = ToldZones(start: try #require(start.positions[database]))
            #expect(
                Dictionary(uniqueKeysWithValues: start.subscriptions.map { ($0.key.id, $0.key) }) == told.keys
            )
            for round in 0..<150 {
                let place: Comment = "restart \(restart), round \(round) of seed \(generator.seed)"
                try await Self.change(it, told, &generator)
                for report in reports.take() {
                    #expect(report.incomplete.isEmpty && !report.changes.isEmpty, place)
                    for change in report.changes where change.database == database {
                        told.apply(change, place)
                        zones.apply(change)
                    }
                }
                // Rows tell an observer that was away of the same zones.
                let away = Int64.random(in: zones.start...max(zones.start, told.position), using: &generator)
                let tail = try #require(it.store.subscriptions.tail(of: database, after: away))
                #expect(tail.zones == zones.after(away), place)
                let owner = [EngineUnderTest.alice]
                let present = it.store.subscriptions.subscriptions(of: owner, in: database)
                #expect(present?.map(\.key) == told.keys.sorted { $0.key < $1.key }.map(\.value), place)
                var truth = try await Self.state(it)
                truth.position = told.position
                #expect(told == truth, place)
                if told != truth { return }
            }
            it = try await it.reopened()
        }
    }

    /// What fetches say that a database has.
    private static func state(_ it: EngineUnderTest) async throws -> Told {
        var state = Told()
        for outcome in try await it.zones() {
            guard case .zone(let zone) = outcome else { continue }
            state.zones.insert(zone.id.zoneName)
            for name in Self.names {
                guard let record = try await it.record(id(name, in: ZoneID(zoneName: zone.id.zoneName)))
                else { continue }
                state.records[record.id] = StoredRecord(
                    number: 0,
                    recordType: record.recordType,
                    position: Int64(record.changeTag, radix: 36) ?? 0,
                    system: record.system,
                    parent: record.parent,
                    body: record.body
                )
            }
        }
        let start = try await it.startWatching(it.listener(9))
        it.store.subscriptions.stopWatching(it.listener(9))
        for outcome in try await it.subscriptions() {
            guard let subscription = outcome.subscription else { continue }
            state.subscriptions[subscription.id] = subscription
        }
        for watched in start.subscriptions {
            #expect(state.subscriptions[watched.key.id] == watched.subscription)
            state.keys[watched.key.id] = watched.key
        }
        return state
    }

    private static func change(
        _ it: EngineUnderTest,
        _ told: Told,
        _ generator: inout SeededGenerator
    ) async throws {
        let zone = self.zones.randomElement(using: &generator)!
        switch Int.random(in: 0..<12, using: &generator) {
        case 0:
            _ = try await it.modifyZones([], deletes: [zone.zoneName])
        case 1, 2:
            _ = try await it.modifyZones(self.zones.map(\.zoneName))
        case 3:
            if let key = told.keys.values.randomElement(using: &generator) {
                var other = key
                other.position -= 1
                let isCurrent = Bool.random(using: &generator)
                it.store.subscriptions.expire(isCurrent ? key : other)
                // An engine that fails executes it again, whenever that is.
                if isCurrent { try await until { try await !it.subscriptionIDs().contains(key.id) } }
            }
            // Behind it in the writer's queue: work of the directory keeps its order.
            let digits = String(UInt64.random(in: 1 << 60 ... .max, using: &generator), radix: 16)
            try it.store.directory.addUser(
                named: "u\(digits)",
                userRecordName: "_" + digits + digits,
                tokenHash: Array((digits + digits).utf8),
                toContainer: EngineUnderTest.container
            )
            _ = try await it.modify([save(self.names[0], in: .default)], policy: .changedKeys)
        case 4, 5, 6:
            try await self.changeSubscriptions(it, zone, &generator)
        default:
            let chosen = self.names.shuffled(using: &generator)
            let saves = chosen.prefix(Int.random(in: 0...4, using: &generator)).map { name in
                let target = self.names.randomElement(using: &generator)!
                let action: Reference.Action = Bool.random(using: &generator) ? .deleteSelf : .none
                return save(name, in: zone, ["to": reference(target, action), "n": .int64(1)])
            }
            let deletes = chosen.suffix(Int.random(in: 0...3, using: &generator)).map { id($0, in: zone) }
            _ = try await it.modify(
                saves,
                deletes: deletes,
                policy: .changedKeys,
                isAtomic: Bool.random(using: &generator)
            )
        }
    }

    private static func changeSubscriptions(
        _ it: EngineUnderTest,
        _ zone: ZoneID,
        _ generator: inout SeededGenerator
    ) async throws {
        let chosen = self.subscriptionIDs.shuffled(using: &generator)
        let saves = chosen.prefix(Int.random(in: 0...3, using: &generator)).map { id in
            let type = ["Note", "Task"].randomElement(using: &generator)!
            return switch Int.random(in: 0..<4, using: &generator) {
            case 0: zoneSubscription(id, zone, type: type)
            case 1: query(id, type: type, in: zone)
            case 2: query(id, type: type)
            default: databaseSubscription(id, type: type)
            }
        }
        let deletes = Array(chosen.suffix(Int.random(in: 0...2, using: &generator)))
        _ = try await it.modifySubscriptions(saves, deletes: deletes)
    }
}

extension StoredRecord {
    /// Without what only the engine calls it.
    fileprivate var unnumbered: StoredRecord {
        var record = self
        record.number = 0
        return record
    }
}
