import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import RecordServer

/// What the router makes of a position that was reported alone.
@Suite(.timeLimit(.minutes(10)))
struct RouterTailTests {
    private static let all = [
        Sample.watched("zone", .zone(ZoneID(zoneName: "Zone"), recordType: nil)),
        Sample.watched("other", .zone(ZoneID(zoneName: "Other"), recordType: "Note")),
        Sample.watched("database", .database(recordType: nil)),
        Sample.watched("query", Sample.query()),
        Sample.watched("query of other", Sample.query(zone: "Other")),
    ]

    private static func tail(_ zones: [String]?, at position: Int64 = 70) -> ChangeTail {
        ChangeTail(
            position: position,
            zones: zones?.map { ChangeTail.ZoneChange(position: position, zone: $0, isDeletion: false) }
        )
    }

    /// IDs of the subscriptions that have news when a tail has been read.
    private static func news(_ tail: ChangeTail?, upTo position: Int64 = 70) throws -> [String] {
        var routing = NotificationRouting(loops: 1, run: Sample.run)
        routing.start(Sample.listener(1), self.all)
        _ = routing.takePosts()
        routing.readOn(tail, of: Sample.privateDatabase, upTo: position)
        routing.timePassed(nowMilliseconds: 1)
        let deliveries = routing.takePosts()[0].compactMap(\.delivery)
        #expect(deliveries.allSatisfy { $0.notification.position == position && !$0.notification.fires })
        return deliveries.map { $0.notification.subject.key.id }.sorted()
    }

    @Test func `those have news that look at a zone of the tail`() throws {
        #expect(try Self.news(Self.tail(["Zone"])) == ["database", "query", "zone"])
        let ofOther = ["database", "other", "query", "query of other"]
        #expect(try Self.news(Self.tail(["Other"])) == ofOther)
        #expect(try Self.news(Self.tail(["Other", "None", "Other"])) == ofOther)
        #expect(try Self.news(Self.tail([ZoneID.defaultZoneName])) == ["query"])
        #expect(try Self.news(Self.tail([])) == [])
    }

    @Test func `all have news where nobody can tell`() throws {
        let all = Self.all.map(\.key.id).sorted()
        #expect(try Self.news(Self.tail(nil)) == all)
        #expect(try Self.news(nil) == all)
        #expect(try Self.news(Self.tail(["Zone"]), upTo: 1) == [], "before they were saved")
    }

    @Test func `subscriptions of other processes come and go`() throws {
        var routing = NotificationRouting(loops: 1, run: Sample.run)
        routing.start(Sample.listener(1), Self.all)
        let saved = Sample.watched("new", .database(recordType: nil), savedAt: 60)
        let again = Sample.watched("zone", .zone(ZoneID(zoneName: "Other"), recordType: nil), savedAt: 61)
        #expect(routing.owners(in: Sample.privateDatabase) == [[Sample.owner]])
        routing.found([saved, again, Self.all[2]], of: [Sample.owner], in: Sample.privateDatabase)
        _ = routing.takePosts()
        routing.readOn(Self.tail(["Other", "Zone"]), of: Sample.privateDatabase, upTo: 70)
        routing.timePassed(nowMilliseconds: 1)
        let told = routing.takePosts()[0].compactMap(\.delivery).map(\.notification.subject.key)
        #expect(Set(told) == [saved.key, again.key, Self.all[2].key])
        // One who does not listen is nobody's to ask for.
        routing.found([], of: ["_nobody"], in: Sample.privateDatabase)
        #expect(routing.stopped(1) != nil)
        #expect(routing.owners(in: Sample.privateDatabase) == [] && routing.followed.isEmpty)
        #expect(routing.index.isEmpty)
    }

    @Test func `a tail begins where the reports before it ended`() async throws {
        let store = GatedStore(Self.all, positions: [Sample.privateDatabase: 12])
        store.open()
        store.set(Self.tail(["Other"]), Self.all)
        let router = RunningRouter(store)
        func commit(_ positions: [Int64], incomplete: Int64? = nil) {
            let changes = positions.map { Sample.change(.zoneCreated("Zone"), at: $0) }
            store.commit(
                CommittedChanges(
                    committedMilliseconds: 77,
                    changes: changes,
                    incomplete: incomplete.map { [Sample.privateDatabase: $0] } ?? [:]
                )
            )
        }
        // Nobody listens.
        commit([], incomplete: 11)
        router.router.listen(Sample.listener(1))
        commit([], incomplete: 20)
        commit([21, 22])
        commit([], incomplete: 30)
        // The tail of a transaction that tells a part of its changes begins before it.
        commit([31], incomplete: 35)
        commit([], incomplete: 40)
        await until { store.tails.count >= 4 }
        #expect(store.tails == [12, 22, 30, 35])
        await router.router.stop(within: .seconds(600))
    }

    @Test func `what another process changes is news to those who look there`() async throws {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            let other = ZoneID(zoneName: "Other")
            try await writer.succeed(.modifyZones(ModifyZones(scope: .private, saves: [other])))
            try await writer.subscribe(
                .zone(),
                Subscription(id: "other", kind: .zone(other, recordType: nil))
            )
            let listener = try await server.listen()
            let beside = try ServerUnderTest.store(in: server.folder, clock: server.clock)
            let signIn = try beside.directory.signIn(
                container: ServerUnderTest.container,
                environment: .development,
                tokenHash: ServerUnderTest.tokenHash
            )
            let requester = Requester(
                database: signIn.privateDatabase!,
                scope: .private,
                environment: signIn.environment,
                userRecordName: signIn.userRecordName
            )
            func write(_ operation: WriteRequest.Operation, _ number: UInt64) async throws {
                let milliseconds = UInt64(server.clock.milliseconds)
                let request = WriteRequest(
                    requester: requester,
                    requestID: RequestID(high: milliseconds << 16, low: number),
                    operation: operation,
                    bytes: 100,
                    deadlineMilliseconds: .max
                )
                let result = await withCheckedContinuation { continuation in
                    beside.write(request) { continuation.resume(returning: $0) }
                }
                for case .failed(let error) in try result.get() { throw error }
            }
            let record = RecordSave(
                id: RecordID(zone: other, recordName: "a"),
                recordType: "Note",
                changes: RecordBody([])
            )
            try await write(.modifyRecords(ModifyRecords(scope: .private, saves: [record])), 1)
            let heard = try await listener.notification()
            #expect(heard.subscriptionID == "other" && heard.isCoalesced)
            try await listener.expectSilence()
            let going = ModifySubscriptions(scope: .private, saves: [], deletes: ["other"])
            try await write(.modifySubscriptions(going), 2)
            // The next transaction notices what another process does.
            try await writer.succeed(.save(["b"], zone: other))
            try await writer.succeed(.save(["c"]))
            let last = try await listener.notification()
            #expect(last.subscriptionID == "zone", "nobody has the other any more")
            await beside.shutdown()
        }
    }
}
