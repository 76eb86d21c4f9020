import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// What a listener is told when it begins, without a database.
struct ListenerStartTests {
    private let world: SubscriptionWorld

    init() throws {
        self.world = try SubscriptionWorld()
        let notes = SubscriptionWorld.notes
        try self.world.save("1 zone", .zone(notes, recordType: nil), zone: 1)
        try self.world.save("2 default", SubscriptionWorld.query(in: .default), zone: 0)
        try self.world.save("3 everywhere", SubscriptionWorld.query())
        try self.world.save("4 database", .database(recordType: nil))
    }

    private func acknowledgeAll(_ installation: UInt8 = 1) throws {
        for watched in try self.world.start(for: installation) {
            let stored = try #require(
                try self.world.transaction.subscription(
                    watched.key.id,
                    of: SubscriptionWorld.alice,
                    in: watched.key.database
                )
            )
            try self.world.transaction.write(
                SubscriptionWorld.cursor(stored, at: watched.position, by: installation)
            )
        }
    }

    @Test func `news is what happened where a subscription looks`() throws {
        #expect(try self.world.news() == [])
        let about = [
            ("notes", ["1 zone", "3 everywhere", "4 database"]),
            ("other", ["3 everywhere", "4 database"]),
            (ZoneID.defaultZoneName, ["2 default", "3 everywhere"]),
        ]
        for (zone, expected) in about {
            try self.world.change(zone)
            #expect(try self.world.news() == expected)
            #expect(try self.world.news(for: 2) == expected, "of another installation as well")
            try self.acknowledgeAll()
            try self.acknowledgeAll(2)
            #expect(try self.world.news() == [])
        }
    }

    @Test func `a deleted zone is news, behind however many of the default zone`() throws {
        func tombstone(_ name: String) throws {
            let position = self.world.transaction.takePosition(in: SubscriptionWorld.own)
            try self.world.transaction.put(
                [
                    [
                        SubscriptionWorld.own.columnValue, .integer(position), .text(name),
                        .integer(position),
                        .integer(0),
                    ]
                ],
                in: ZoneTombstoneRow.table
            )
        }
        try tombstone("gone")
        for _ in 0..<9 { try tombstone(ZoneID.defaultZoneName) }
        #expect(try self.world.news() == ["3 everywhere", "4 database"])
    }

    @Test func `the position is the database's, and subscriptions are no news`() throws {
        try self.world.save("5", .database(recordType: "Note"))
        let start = try self.world.start()
        let position = self.world.transaction.position(of: SubscriptionWorld.own)
        #expect(start.map(\.position) == Array(repeating: position, count: 5))
        #expect(!start.contains { $0.hasChanges })
    }

    @Test func `what is acknowledged and not written yet counts, of the same definition alone`() throws {
        try self.world.change("notes")
        let alice = SubscriptionWorld.alice
        let stored = try #require(
            try self.world.transaction.subscription("1 zone", of: alice, in: SubscriptionWorld.own)
        )
        let position = self.world.transaction.position(of: SubscriptionWorld.own)
        var unwritten = SubscriptionWorld.cursor(stored, at: position)
        #expect(try self.world.news(unwritten: unwritten) == ["3 everywhere", "4 database"])
        #expect(try self.world.news(for: 2, unwritten: unwritten).count == 3)
        for key in unwritten.keys { unwritten[key]?.savedPosition = stored.createdPosition - 1 }
        #expect(try self.world.news(unwritten: unwritten).count == 3)
    }
}
