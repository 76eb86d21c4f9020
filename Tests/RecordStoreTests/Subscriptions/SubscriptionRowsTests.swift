import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// Subscriptions and cursors in rows, without a database.
struct SubscriptionRowsTests {
    private let world: SubscriptionWorld
    private var rows: MemoryTransaction { self.world.transaction }

    init() throws { self.world = try SubscriptionWorld() }

    @Test func `a subscription is found by ID, by definition, and among all`() throws {
        let bob = "_00000000000000000000000000000b0b"
        try self.world.save("b", .database(recordType: nil))
        let saved = try self.world.save("a", .database(recordType: "Note"))
        try self.world.save("a", .database(recordType: nil), of: bob)
        let alice = SubscriptionWorld.alice
        var found = try #require(try self.rows.subscription("a", of: alice, in: SubscriptionWorld.own))
        #expect(found.number != 0)
        found.number = 0
        #expect(found == saved)
        let all = try self.rows.subscriptions(of: alice, in: SubscriptionWorld.own)
        #expect(all.map(\.key.id) == ["a", "b"] && all.allSatisfy { $0.key.owner == alice })
        let some = try self.rows.subscriptions(["b", "none"], of: alice, in: SubscriptionWorld.own)
        #expect(some.map { $0?.key.id } == ["b", nil])
        #expect(
            try self.rows.subscriptionID(
                defined: saved.definition,
                of: alice,
                in: SubscriptionWorld.own
            ) == "a"
        )
        #expect(try self.rows.subscriptions(["a"], of: "_nobody", in: SubscriptionWorld.own) == [nil])
    }

    @Test func `cursors stay with a definition, and go with another one`() throws {
        let saved = try self.world.save("a", .database(recordType: nil))
        try self.rows.write(SubscriptionWorld.cursor(saved, at: 9))
        try self.world.save("a", .database(recordType: nil))
        #expect(try self.rows.rows(RowRange(ListenerCursorRow.byKey)).map(\.position) == [9])
        #expect(try self.world.counted.counted == self.world.counted.taken)
        try self.world.save("a", .database(recordType: "Note"))
        #expect(try self.rows.count(RowRange(ListenerCursorRow.byKey)) == 0)
        #expect(try self.world.counted.counted == self.world.counted.taken)
    }

    @Test func `a cursor never goes back, and none is written of what is gone or defined anew`() throws {
        let saved = try self.world.save("a", .database(recordType: nil))
        for (position, expected) in [(5, 5), (3, 5), (7, 7)] as [(Int64, Int64)] {
            try self.rows.write(SubscriptionWorld.cursor(saved, at: position))
            #expect(try self.rows.rows(RowRange(ListenerCursorRow.byKey)).map(\.position) == [expected])
        }
        #expect(try self.world.counted.counted == self.world.counted.taken)
        let other = try self.world.save("a", .database(recordType: "Note"))
        try self.rows.write(SubscriptionWorld.cursor(saved, at: 9))
        #expect(try self.rows.count(RowRange(ListenerCursorRow.byKey)) == 0)
        try self.rows.expire([other.key])
        try self.rows.write(SubscriptionWorld.cursor(other, at: 9))
        #expect(try self.rows.count(RowRange(ListenerCursorRow.byKey)) == 0)
        #expect(try self.world.counted.counted == 0 && self.world.counted.taken == 0)
    }

    @Test func `those of a zone go with it, and each is noted with its owner if somebody watches`() throws {
        let zone = ZoneKey(database: SubscriptionWorld.own, number: 1)
        for isWatched in [false, true] {
            let notes = SubscriptionWorld.notes
            let one = try self.world.save("1", .zone(notes, recordType: nil), zone: 1)
            let two = try self.world.save("2", SubscriptionWorld.query(in: notes), zone: 1)
            try self.rows.write(SubscriptionWorld.cursor(one, at: 9))
            try self.world.save("3", .database(recordType: nil))
            self.rows.watched = isWatched ? [SubscriptionWorld.own] : []
            try self.rows.deleteSubscriptions(of: zone, at: 77)
            let left = try self.rows.subscriptions(of: SubscriptionWorld.alice, in: SubscriptionWorld.own)
            #expect(left.map(\.key.id) == ["3"])
            let expected = [one, two].map {
                MemoryTransaction.Note(
                    kind: .subscriptionDeleted($0.key),
                    position: 77,
                    database: SubscriptionWorld.own
                )
            }
            #expect(self.rows.takeNotes() == (isWatched ? expected : []))
            #expect(try self.world.counted.counted == self.world.counted.taken)
        }
    }

    @Test func `one that has fired is deleted, unless it was saved again`() throws {
        self.rows.watched = [SubscriptionWorld.own]
        let old = try self.world.save("a", .database(recordType: nil))
        let fired = try self.world.save("b", .database(recordType: "Note"))
        try self.world.save("a", .database(recordType: nil))
        try self.rows.expire([old.key, fired.key])
        try self.rows.expire([fired.key])
        let left = try self.rows.subscriptions(of: SubscriptionWorld.alice, in: SubscriptionWorld.own)
        #expect(left.map(\.key.id) == ["a"])
        #expect(self.rows.takeNotes().map(\.kind) == [.subscriptionDeleted(fired.key)])
    }
}
