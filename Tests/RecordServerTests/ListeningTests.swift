import NIOCore
import RecordModel
import RecordStore
import SQLiteEngine
import TestSupport
import Testing
import WireProtocol

@testable import RecordServer

/// Listening over real TLS against the real engine.
@Suite(.timeLimit(.minutes(10)))
struct ListeningTests {
    @Test func `others of the same user hear of a change, and the connection that made it does not`()
        async throws
    {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            try await writer.subscribe(.zone())
            let first = try await server.listen()
            let second = try await server.listen(installation: [UInt8](repeating: 2, count: 16))
            // Both have been away since the subscription was made, and nothing has happened.
            try await Writer(peer: first).succeed(.save(["by the first"]))
            let heard = try await second.notification()
            #expect(heard.number == 1)
            #expect(heard.subscriptionID == "zone")
            #expect(heard.event == .zone(ServerUnderTest.zone))
            #expect(heard.scope == .private)
            #expect(heard.owner == ServerUnderTest.userRecordName)
            #expect(heard.committedMilliseconds == ServerUnderTest.startMilliseconds)
            #expect(!heard.isCoalesced)
            try await Writer(peer: second).succeed(.save(["by the second"]))
            #expect(try await first.notification().number == 1)
            try await writer.succeed(.save(["by the writer"]))
            #expect(try await first.notification().number == 2)
            #expect(try await second.notification().number == 2)
        }
    }

    @Test func `a query's notification has the record, the desired values and texts`() async throws {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            try await writer.succeed(Self.save("first", [Field(name: "title", value: .string("one"))]))
            var info = NotificationInfo()
            info.alertLocalizationKey = "%1$@ has come"
            info.alertLocalizationArgs = ["title", "absent"]
            info.desiredKeys = ["title"]
            let isTwo = Predicate.comparison(
                Comparison(field: "title", comparator: .equals, operand: .string("two"))
            )
            let kind = Subscription.Kind.query(
                recordType: "Note",
                predicate: isTwo,
                zone: ServerUnderTest.zone,
                firesOn: .events
            )
            try await writer.subscribe(Subscription(id: "two", kind: kind, info: info))
            let listener = try await server.listen()
            let two = [Field(name: "other", value: .int64(2)), Field(name: "title", value: .string("two"))]
            try await writer.succeed(
                Self.save("passed over", [Field(name: "title", value: .string("three"))])
            )
            try await writer.succeed(Self.save("record", two))
            let id = RecordID(zone: ServerUnderTest.zone, recordName: "record")
            let created = try await listener.notification()
            let title = RecordBody([Field(name: "title", value: .string("two"))])
            #expect(
                created.event
                    == .query(Notification.RecordChange(id: id, reason: .recordCreated, fields: title))
            )
            #expect(created.info?.alertLocalizationArgs == ["two", ""])
            #expect(created.info?.alertLocalizationKey == "%1$@ has come")
            try await writer.succeed(
                .modifyRecords(ModifyRecords(scope: .private, saves: [], deletes: [id]))
            )
            let deleted = try await listener.notification()
            #expect(deleted.event == .query(Notification.RecordChange(id: id, reason: .recordDeleted)))
            #expect(deleted.info?.alertLocalizationArgs == ["two", ""])
        }
    }

    @Test func `beyond 64 without an acknowledgement the last of a subscription waits`() async throws {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            try await writer.subscribe(.notes(), .database())
            let listener = try await server.listen()
            try await writer.succeed(.save((0..<100).map { "\($0)" }))
            let sent = try await listener.notifications(64)
            #expect(sent.map(\.number) == (1...64).map { UInt64($0) })
            #expect(sent.allSatisfy { !$0.isCoalesced && $0.subscriptionID == "notes" })
            try await listener.expectSilence()
            try await listener.acknowledge(1)
            let last = try await listener.notification()
            #expect(last.number == 65)
            #expect(last.isCoalesced)
            let id = RecordID(zone: ServerUnderTest.zone, recordName: "99")
            #expect(last.event == .query(Notification.RecordChange(id: id, reason: .recordCreated)))
            try await listener.acknowledge(64)
            let database = try await listener.notification()
            #expect(database.number == 66)
            #expect(database.event == .database)
            #expect(!database.isCoalesced)
            try await listener.acknowledge(66)
            try await writer.succeed(.save(["later"]))
            let later = try await listener.notification()
            #expect(later.number == 67)
            #expect(!later.isCoalesced)
        }
    }

    @Test func `after an absence there is word once for each subscription that has news`() async throws {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            try await writer.succeed(.modifyZones(ModifyZones(scope: .private, saves: [Self.quietZone])))
            let quiet = Subscription(id: "quiet", kind: .zone(Self.quietZone, recordType: nil))
            try await writer.subscribe(.notes(), .zone(), quiet)
            for name in ["a", "b", "c"] { try await writer.succeed(.save([name])) }
            let listener = try await server.listen()
            let news = try await listener.notifications(2)
            #expect(news.map(\.number) == [1, 2])
            let events = Dictionary(uniqueKeysWithValues: news.map { ($0.subscriptionID, $0.event) })
            #expect(events == ["notes": .query(nil), "zone": .zone(ServerUnderTest.zone)])
            #expect(news.allSatisfy { $0.committedMilliseconds == 0 && !$0.isCoalesced })
            try await listener.acknowledge(2)
            try await listener.expectSilence()
            await listener.close()

            let again = try await server.listen()
            try await writer.succeed(.save(["d"]))
            let live = try await again.notifications(2)
            #expect(live.allSatisfy { $0.committedMilliseconds > 0 })
            await again.close()

            // What came was not acknowledged; another installation knows nothing of the first one's
            // acknowledgements.
            for installation in [ServerUnderTest.installation, [UInt8](repeating: 3, count: 16)] {
                let back = try await server.listen(installation: installation)
                let told = try await back.notifications(2)
                #expect(Set(told.map(\.subscriptionID)) == ["notes", "zone"])
                #expect(told.allSatisfy { $0.committedMilliseconds == 0 })
                try await back.expectSilence()
            }
        }
    }

    @Test func `a subscription that is made, changed or deleted while somebody listens counts at once`()
        async throws
    {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            let listener = try await server.listen()
            try await writer.succeed(.save(["before"]))
            try await writer.subscribe(.notes())
            try await writer.succeed(.save(["a"]))
            #expect(try await listener.notification().subscriptionID == "notes")
            var info = NotificationInfo()
            info.alertBody = "changed"
            try await writer.subscribe(.notes(on: [.deletion], info: info))
            try await writer.succeed(.save(["b"]))
            let id = RecordID(zone: ServerUnderTest.zone, recordName: "a")
            try await writer.succeed(
                .modifyRecords(ModifyRecords(scope: .private, saves: [], deletes: [id]))
            )
            let deleted = try await listener.notification()
            #expect(deleted.event == .query(Notification.RecordChange(id: id, reason: .recordDeleted)))
            #expect(deleted.info?.alertBody == "changed")
            try await writer.subscribe(.zone())
            try await writer.succeed(
                .modifySubscriptions(ModifySubscriptions(scope: .private, saves: [], deletes: ["notes"]))
            )
            let other = RecordID(zone: ServerUnderTest.zone, recordName: "b")
            try await writer.succeed(
                .modifyRecords(ModifyRecords(scope: .private, saves: [], deletes: [other]))
            )
            #expect(try await listener.notification().subscriptionID == "zone")
        }
    }

    @Test func `a deleted zone is heard of, and takes its subscription with it`() async throws {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            try await writer.subscribe(.zone(), .database())
            let listener = try await server.listen()
            try await writer.succeed(
                .modifyZones(ModifyZones(scope: .private, saves: [], deletes: [ServerUnderTest.zone]))
            )
            let heard = try await listener.notification()
            #expect(heard.subscriptionID == "database")
            #expect(heard.event == .database)
            #expect(try await writer.subscriptions() == ["database"])
            try await writer.succeed(.modifyZones(ModifyZones(scope: .private, saves: [Self.quietZone])))
            #expect(try await listener.notification().subscriptionID == "database")
        }
    }

    @Test func `a subscription that is to fire once does, and is gone`() async throws {
        try await ServerUnderTest.run { server in
            let writer = try await server.writer()
            try await writer.subscribe(.notes("live", on: [.creation, .once]), .zone())
            let listener = try await server.listen()
            try await writer.succeed(.save(["a", "b"]))
            #expect(try await Set(listener.notifications(2).map(\.subscriptionID)) == ["live", "zone"])
            try await until { try await writer.subscriptions() == ["zone"] }
            try await writer.succeed(.save(["c"]))
            #expect(try await listener.notification().subscriptionID == "zone")
            await listener.close()

            // Nobody listens: it is news for who comes first, and then gone.
            try await writer.subscribe(.notes("away", on: [.creation, .once]))
            try await writer.succeed(.save(["d"]))
            #expect(try await writer.subscriptions() == ["away", "zone"])
            let back = try await server.listen()
            let told = try await back.notifications(2)
            #expect(Set(told.map(\.subscriptionID)) == ["away", "zone"])
            try await until { try await writer.subscriptions() == ["zone"] }
        }
    }

    @Test func `in the public database nobody hears of what he may not read`() async throws {
        try await ServerUnderTest.run { server in
            try server.addOther()
            let document = try SchemaParser.parse(
                """
                DEFINE SCHEMA RECORD TYPE Note (value BYTES, "___recordID" REFERENCE QUERYABLE,
                    GRANT CREATE TO "_icloud", GRANT READ, WRITE TO "_creator");
                """
            )
            try server.store.schemas.apply(
                .replaceDevelopment(document),
                inContainer: ServerUnderTest.container
            )
            let writer = Writer(peer: try await server.signIn())
            let other = Writer(peer: try await server.signIn(token: ServerUnderTest.otherToken))
            try await writer.subscribe(.notes(), scope: .public)
            try await other.subscribe(.notes(), scope: .public)
            let mine = try await server.listen()
            let others = try await server.listen(token: ServerUnderTest.otherToken)
            try await writer.succeed(Self.save("mine", [], scope: .public, zone: .default))
            try await other.succeed(Self.save("other's", [], scope: .public, zone: .default))
            let heard = try await mine.notification()
            #expect(Self.recordName(of: heard) == "mine")
            #expect(heard.scope == .public)
            let heardByOther = try await others.notification()
            #expect(Self.recordName(of: heardByOther) == "other's")
            #expect(heardByOther.owner == ServerUnderTest.otherUserRecordName)
            try await mine.expectSilence()
            try await others.expectSilence()
        }
    }

    // MARK: - What is asked

    private static let quietZone = ZoneID(zoneName: "Quiet")

    private static func save(
        _ name: String,
        _ fields: [Field],
        scope: DatabaseScope = .private,
        zone: ZoneID = ServerUnderTest.zone
    ) -> RecordModel.Operation {
        .modifyRecords(
            ModifyRecords(
                scope: scope,
                saves: [
                    RecordSave(
                        id: RecordID(zone: zone, recordName: name),
                        recordType: "Note",
                        changes: RecordBody(fields)
                    )
                ]
            )
        )
    }

    private static func recordName(of notification: RecordModel.Notification) -> String? {
        guard case .query(let change?) = notification.event else { return nil }
        return change.id.recordName
    }
}
