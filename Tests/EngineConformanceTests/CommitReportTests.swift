import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance

/// What a commit reports to those who watch.
@Suite(.timeLimit(.minutes(10)))
struct CommitReportTests {
    private static let run = ServerRun.fresh()

    private static func origin(_ connection: UInt64) -> ChangeOrigin {
        ChangeOrigin(run: self.run, connection: connection)
    }

    @Test(arguments: EngineKind.allCases)
    func `only what changes in watched databases is reported`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifyZones(["notes"], by: it.bobPrivately)
        let reports = it.reports()
        _ = try await it.modify([save("before")])
        _ = try await it.startWatching()
        _ = try await it.startWatching(it.listener(2))
        #expect(reports.take() == [], "nothing of before")
        _ = try await it.modify([save("a")])
        _ = try await it.modify([save("b", in: .default)], by: it.publicly)
        _ = try await it.modify([save("c")], by: it.bobPrivately)
        _ = try await it.modify([save("d", in: .default)], by: it.bobPublicly)
        #expect(reports.words() == ["+a", "+_defaultZone/b", "+_defaultZone/d"])
        it.store.subscriptions.stopWatching(it.listener(2))
        _ = try await it.modify([save("e")])
        #expect(reports.words() == ["+e"])
        _ = try await it.startWatching(it.listener(1, signIn: it.bobSignIn))
        it.store.subscriptions.stopWatching(it.listener())
        _ = try await it.modify([save("f")])
        _ = try await it.modify([save("g")], by: it.bobPrivately)
        _ = try await it.modify([save("h", in: .default)], by: it.publicly)
        #expect(reports.words() == ["+g", "+_defaultZone/h"])
    }

    @Test(arguments: EngineKind.allCases)
    func `a record comes as it was and as it is, with those that go along`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let reports = it.reports()
        _ = try await it.startWatching()
        it.clock.advance(milliseconds: 5_000)
        _ = try await it.write(
            .modifyRecords(ModifyRecords(scope: .private, saves: [save("a", ["n": .int64(1)])])),
            origin: Self.origin(7)
        ).get()
        let made = try #require(reports.take().first)
        #expect(made.committedMilliseconds == it.clock.milliseconds && made.incomplete.isEmpty)
        let change = try #require(made.changes.first)
        #expect(made.changes.count == 1 && change.origin == Self.origin(7))
        #expect(change.database == it.privately.database)
        #expect(change.environment == it.privately.environment)
        guard case .record(let created) = change.kind else { return #expect(Bool(false)) }
        let stored = try #require(try await it.record(id("a")))
        #expect(created.before == nil && created.after?.record(id: id("a")) == stored)
        #expect(created.after?.position == change.position && created.recordType == "Note")
        #expect(created.definitions["n"]?.type == .int64, "with what its save defined")
        #expect(created.after?.number != 0)

        let dependants = ["b", "c"].map { save($0, ["to": reference("a", .deleteSelf)]) }
        _ = try await it.modify(
            [save("a", ["m": .int64(2)])] + dependants + [save("d", ["to": reference("c", .deleteSelf)])],
            policy: .changedKeys
        )
        let updated = try #require(reports.take().first)
        #expect(updated.changes.map(\.words) == ["a", "+b", "+c", "+d"])
        #expect(updated.changes.map(\.position) == updated.changes.map(\.position).sorted())
        guard case .record(let update) = updated.changes[0].kind else { return #expect(Bool(false)) }
        #expect(update.before == created.after)
        #expect(update.after?.body.fields.count == 2)
        #expect(update.definitions["m"] != nil)

        _ = try await it.modify([], deletes: [id("a"), id("none")])
        let deleted = try #require(reports.take().first)
        #expect(Set(deleted.changes.map(\.words)) == ["-a", "-b", "-c", "-d"])
        #expect(deleted.changes.last?.words == "-a")
        guard case .record(let deletion) = deleted.changes.last?.kind else { return #expect(Bool(false)) }
        #expect(deletion.before == update.after && deletion.after == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `zones and subscriptions are reported, those that go along too`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let reports = it.reports()
        _ = try await it.startWatching()
        _ = try await it.modifyZones(["other", "notes"], deletes: [])
        #expect(reports.words() == ["+zone other"], "one that was there is not created")
        let saves = [zoneSubscription("z"), query("q", in: notes), query("all")]
        _ = try await it.modifySubscriptions(saves, deletes: ["none"], origin: Self.origin(3))
        let changes = reports.take().flatMap(\.changes)
        #expect(changes.map(\.words) == ["+subscription z", "+subscription q", "+subscription all"])
        #expect(changes.allSatisfy { $0.origin == Self.origin(3) })
        let start = try await it.startWatching(it.listener(2))
        for (change, known) in zip(changes, [2, 1, 0]) {
            guard case .subscriptionSaved(let saved) = change.kind else { return #expect(Bool(false)) }
            #expect(saved.key == start.subscriptions[known].key && saved.position == change.position)
            #expect(saved.subscription == start.subscriptions[known].subscription && !saved.hasChanges)
        }
        _ = try await it.modifySubscriptions([query("all", type: "Task")], deletes: ["q"])
        #expect(reports.words() == ["+subscription all", "-subscription q"])
        _ = try await it.modifyZones([], deletes: ["notes", "other"])
        #expect(reports.words() == ["-zone notes", "-subscription z", "-zone other"])
        try it.store.schemas.apply(.resetDevelopment, inContainer: EngineUnderTest.container)
        let words = Set(reports.words())
        #expect(words.isSuperset(of: ["-zone _defaultZone", "+zone _defaultZone"]))
    }

    @Test(arguments: EngineKind.allCases)
    func `what is refused, replayed or changes nothing is not reported`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a")])
        let reports = it.reports()
        _ = try await it.startWatching()
        _ = try await it.modify([save("x"), save("a")])
        _ = try? await it.modify([save("x"), save("x")])
        _ = try await it.modify([], deletes: [id("none")])
        _ = try await it.modifySubscriptions([query("q", type: "1")], deletes: ["none"])
        _ = try await it.modifyZones([], deletes: ["none"])
        #expect(reports.take() == [])
        let request = it.newRequestID()
        for _ in 0..<2 { _ = try await it.modify([save("y")], id: request) }
        #expect(reports.words() == ["+y"])
    }

    @Test(arguments: EngineKind.allCases, 0..<3)
    func `what is rolled back is not reported, its neighbours are, in one piece`(
        kind: EngineKind,
        place: Int
    ) async throws {
        let script = FailureScript()
        let it = try await EngineUnderTest.withNotes(kind) { $0.failures = { script.next() } }
        _ = try await it.modify([save("old")])
        _ = try await it.modifyZones(["other"])
        _ = try await it.modifySubscriptions([query("q", in: ZoneID(zoneName: "other"))])
        let reports = it.reports()
        _ = try await it.startWatching()
        let other = ZoneID(zoneName: "other")
        var requests = [[save("a")], [save("b")]]
        requests.insert([save("never", in: other), save("damaged")], at: place)
        // The first job holds the writer; the one at fault has written everything.
        script.failures = Array(repeating: nil, count: 1 + place)
        script.failures.append(.primitive(.unexpected(code: 1), behind: 10_000))
        let outcomes = await it.together(requests)
        #expect(outcomes[place] == .failure(.internalFault))
        let words = reports.take().map { $0.changes.map(\.words) }
        #expect(words.last == ["+a", "+b"])
        #expect(words.flatMap { $0 }.contains("+other/never") == false)
    }

    @Test(arguments: EngineKind.withOwnDisk)
    func `a full disk reports nothing and keeps what was acknowledged`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind) { $0.filePagesMax = 200 }
        _ = try await it.modifyZones(["notes"])
        _ = try await it.modifySubscriptions([zoneSubscription("z")])
        let reports = it.reports()
        _ = try await it.startWatching()
        var saved = 0
        let body = [UInt8](repeating: 1, count: 100_000)
        while saved < 20 {
            do throws(StoreError) {
                _ = try await it.modify([save("n\(saved)", ["b": .bytes(body)])])
            } catch {
                break
            }
            saved += 1
        }
        #expect(saved > 0 && saved < 20)
        #expect(reports.words() == (0..<saved).map { "+n\($0)" })
        try await it.acknowledgeAll()
        #expect(try await it.news() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `more than memory should hold is said to be incomplete`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let reports = it.reports()
        _ = try await it.startWatching()
        let body = FieldValue.bytes([UInt8](repeating: 1, count: 1_000_000))
        let outcomes = try await it.modify((0..<40).map { save("n\($0)", ["b": body]) })
        #expect(outcomes.areSaved)
        _ = try await it.modify([save("after")])
        let reported = reports.take()
        #expect(reported.count == 2)
        #expect((20..<40).contains(reported[0].changes.count))
        let last = try #require(outcomes.last?.tag.flatMap { Int64($0, radix: 36) })
        #expect(reported[0].incomplete == [it.privately.database: last])
        #expect(reported[1].changes.map(\.words) == ["+after"] && reported[1].incomplete.isEmpty)
    }

    @Test(arguments: EngineKind.allCases)
    func `a report comes before the replies, once a transaction`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let events = Mutex<[String]>([])
        it.store.subscriptions.report { changes in
            events.withLock { $0.append(changes.changes.map(\.words).joined(separator: " ")) }
        }
        _ = try await it.startWatching()
        let answered = await it.together([[save("a")], [save("b")], [save("c")]])
        events.withLock { $0.append("answered \(answered.count)") }
        #expect(events.withLock { $0 }.suffix(2) == ["+a +b +c", "answered 3"])
        for number in 0..<50 {
            _ = try await it.modify([save("n\(number)")])
            #expect(events.withLock { $0.last } == "+n\(number)")
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `what another process changes is reported, or said to be missing, within a second or two`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("n")])
        let reports = it.reports()
        let before = try await it.startWatching()
        let other = try it.beside()
        // Nothing that is watched.
        _ = try await other.modifyZones(["bobs"], by: other.bobPrivately)
        try other.store.directory.createContainer("org.example.other")
        _ = try await it.modify([save("m")])
        #expect(reports.words() == ["+m"])
        try other.store.schemas.apply(.resetDevelopment, inContainer: EngineUnderTest.container)
        let databases: Set = [it.privately.database, it.publicly.database]
        var told: Set<DatabaseID> = []
        while told != databases {
            try await Task.sleep(for: .milliseconds(50))
            for report in reports.take() {
                // Rows do not tell everything: subscriptions have gone with their zones.
                told.formUnion(report.incomplete.keys)
                told.formUnion(report.overwritten.keys)
                #expect(report.changes.isEmpty || report.incomplete.isEmpty)
                let words = report.changes.map(\.words)
                #expect(words.isEmpty || words.contains("-zone _defaultZone"), "\(words)")
            }
        }
        #expect(told == databases)
        // The tail says where.
        let known = try #require(before.positions[it.privately.database])
        let tail = try #require(it.store.subscriptions.tail(of: it.privately.database, after: known))
        let zones = try #require(tail.zones)
        #expect(Set(zones.filter(\.isDeletion).map(\.zone)) == ["notes", "_defaultZone"])
        #expect(zones.filter { !$0.isDeletion }.map(\.zone) == ["_defaultZone"])
        let start = try await it.startWatching(it.listener(2))
        #expect(start.subscriptions.isEmpty)
        _ = try await it.modifyZones(["notes"])
        #expect(reports.words() == ["+zone notes"])
        await other.store.shutdown()
    }
}
