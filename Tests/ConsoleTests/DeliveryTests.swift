import Foundation
import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import Console

/// Why a record came to somebody or did not, and what a subscription would have fired for.
@Suite(.timeLimit(.minutes(10)))
struct DeliveryTests {
    private static let place = ConsoleScene.place
    private static let own = "database=private&user=alice"
    private static let phone = [UInt8](repeating: 0xA1, count: 16)
    private static let desk = ZoneID(zoneName: "desk")

    private static func scene() async throws -> ConsoleScene {
        let scene = try ConsoleScene.withAlice()
        try await scene.makeZones(["desk"])
        try await scene.save(
            [("first", [Field(name: "title", value: .string("x"))]), ("second", [])],
            zone: "desk"
        )
        return scene
    }

    /// Reads a page of the zone for an installation, as a client does.
    private static func follow(_ scene: ConsoleScene, after token: [UInt8]?) async throws -> [UInt8] {
        var read = FeedRead(zone: self.desk, token: token)
        read.installation = self.phone
        let asked = read
        let requester = try scene.requester()
        return try await withCheckedThrowingContinuation { continuation in
            scene.store.changes(asked, for: requester, into: GatheredRecords()) {
                continuation.resume(with: $0)
            }
        }.token
    }

    private static func subscribe(
        _ scene: ConsoleScene,
        _ id: String,
        _ predicate: RecordModel.Predicate
    )
        async throws
    {
        let subscription = Subscription(
            id: id,
            kind: .query(recordType: "Note", predicate: predicate, zone: self.desk, firesOn: .events)
        )
        let operation = ModifySubscriptions(scope: .private, saves: [subscription])
        let outcomes = try await scene.write(.modifySubscriptions(operation), by: scene.requester())
        #expect(outcomes == [.subscriptionSaved(subscription)])
    }

    private static let isX = Predicate.comparison(
        Comparison(field: "title", comparator: .equals, operand: .string("x"))
    )

    // MARK: A record

    @Test
    func `a record's page says which installations have it, and why others do not`() async throws {
        let scene = try await Self.scene()
        try await Self.subscribe(scene, "exes", Self.isX)
        let path = Self.place + "/record?\(Self.own)&zone=desk&name=first"
        try await scene.browsing { client in
            let never = try await client.get(path).body
            #expect(never.contains("never fetched the zone"))
            #expect(never.contains("none is known"))
            #expect(never.contains("owns the private database"))
            #expect(never.contains("create, write") || never.contains("read, create, write"))
            #expect(never.contains("It was saved after the last change"))
            var token = try await Self.follow(scene, after: nil)
            // A row that was written a moment ago rests for a minute.
            scene.clock.advance(milliseconds: 61_000)
            token = try await Self.follow(scene, after: token)
            // The server's memory comes to the rows within a second.
            let has = try await Self.page(client, path) { $0.contains("has it") }
            let installation = String(repeating: "a1", count: 16)
            #expect(has.contains("<code class=\"word\" title=\"\(installation)\">a1a1a1a1a1a1</code>"))
            #expect(has.contains("<span class=\"state good\">has it</span>"))
            try await scene.save([("first", [Field(name: "title", value: .string("y"))])], zone: "desk")
            try await scene.save([("second", [Field(name: "title", value: .string("z"))])], zone: "desk")
            let behind = try await client.get(path).body
            #expect(behind.contains("is 2 changes behind"))
            #expect(behind.contains("The record does not meet its condition."))
            #expect(
                behind.contains("subscriptions/trial?database=private&amp;user=alice&amp;subscription=exes")
            )
            // In a shared database the user sees themselves alone.
            #expect(
                try await client.get(Self.place + "/record?database=shared&user=alice&name=x").status == 404
            )
        }
        await scene.shutdown()
    }

    private static func page(
        _ client: ConsoleClient,
        _ path: String,
        until isEnough: (String) -> Bool
    ) async throws -> String {
        while true {
            let page = try await client.get(path).body
            if isEnough(page) { return page }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test
    func `an operator sees the installations and subscriptions of a public database`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.save([("news", [Field(name: "title", value: .string("x"))])], scope: .public)
        let subscription = Subscription(
            id: "<b>all</b>",
            kind: .query(recordType: "Note", predicate: .all, zone: nil, firesOn: .events)
        )
        try await scene.write(
            .modifySubscriptions(ModifySubscriptions(scope: .public, saves: [subscription])),
            by: scene.requester(.public)
        )
        try await scene.browsing { client in
            let list = try await client.get(Self.place + "/subscriptions").body
            #expect(list.contains("<bdi>&lt;b&gt;all&lt;/b&gt;</bdi>"))
            #expect(list.contains("none has acknowledged anything"))
            #expect(list.contains(">alice<"))
            let trial = "/trial?database=public&amp;user=alice&amp;subscription=%3Cb%3Eall%3C%2Fb%3E"
            #expect(list.contains(trial))
            let record = try await client.get(Self.place + "/record?name=news").body
            #expect(record.contains("Nobody follows the zone."))
            #expect(record.contains("It was saved after the last change"))
            // A private database has the subscriptions of its user alone.
            let own = try await client.get(Self.place + "/subscriptions?\(Self.own)").body
            #expect(own.contains("There are no subscriptions here."))
            let nobody = try await client.get(Self.place + "/subscriptions?database=private").body
            #expect(nobody.contains("choose one"))
        }
        await scene.shutdown()
    }

    // MARK: Dry runs

    @Test
    func `a dry run of a saved subscription says which of the last changes it would have fired for`()
        async throws
    {
        let scene = try await Self.scene()
        try await Self.subscribe(scene, "exes", Self.isX)
        try await scene.save([("third", [Field(name: "title", value: .string("x"))])], zone: "desk")
        let before = try await scene.requesterPosition()
        try await scene.browsing { client in
            let base = Self.place + "/subscriptions/trial?\(Self.own)"
            let page = try await client.get(base + "&subscription=exes").body
            #expect(page.contains("<strong>2 of 3 changes</strong>"))
            #expect(page.contains("These are all."))
            #expect(page.contains("The subscription was saved after this change."))
            #expect(page.firstMatch(of: /Read \d+ changes, 3 records, \d+ comparisons?, in [\d.]+ ms/) != nil)
            let last = try await client.get(base + "&subscription=exes&last=1").body
            #expect(last.contains("<strong>1 of 1 change</strong>"))
            #expect(last.contains("There are earlier ones"))
            #expect(try await client.get(base + "&subscription=none").status == 404)
            #expect(try await client.get(Self.place + "/subscriptions/trial").status == 400)
            let shared = try await client.get(
                Self.place + "/subscriptions/trial?database=shared&user=alice"
            )
            #expect(shared.status == 400)
        }
        #expect(try await scene.requesterPosition() == before, "nothing was written")
        await scene.shutdown()
    }

    @Test
    func `a subscription that somebody types is tried, and refused with the reason`() async throws {
        let scene = try await Self.scene()
        try await scene.browsing { client in
            let base = Self.place + "/subscriptions/trial?\(Self.own)"
            let form = try await client.get(base).body
            #expect(form.contains("name=\"predicate\""))
            #expect(!form.contains("<table"), "nothing was asked for")
            let query = base + "&kind=query&type=Note&on=creation&on=update"
            let typed = try await client.get(query + "&predicate=title%20%3D%3D%20%22x%22").body
            #expect(typed.contains("<strong>1 of 3 changes</strong>"))
            let zone = try await client.get(base + "&kind=zone&zone=desk").body
            #expect(zone.contains("<strong>2 of 2 changes</strong>"))
            let database = try await client.get(base + "&kind=database&last=99999").body
            #expect(database.contains("<strong>2 of 3 changes</strong>"))
            let faults = [
                "&kind=zone": "name it", "&kind=query&on=update": "choose it",
                "&kind=query&type=Note": "choose some",
                "&kind=query&type=Note&on=update&predicate=((": "Unable to parse",
                "&kind=query&type=Note&on=update&predicate=absent%20%3D%3D%201": "absent",
                "&kind=zone&zone=none": "Zone",
            ]
            for (fault, text) in faults {
                let page = try await client.get(base + fault)
                #expect(page.status == 200, "\(fault)")
                #expect(page.body.contains("role=\"alert\""), "\(fault)")
                #expect(page.body.contains(text), "\(fault)")
            }
            // In the public database there are no subscriptions of zones.
            let open = try await client.get(Self.place + "/subscriptions/trial?database=public&user=alice")
                .body
            #expect(!open.contains("value=\"zone\""))
        }
        await scene.shutdown()
    }
}

extension ConsoleScene {
    /// The last position of alice's private database.
    func requesterPosition() async throws -> Int64 {
        try self.store.subscriptionReport(for: self.requester()).position
    }
}
