import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// Zones in their rows, as feeds and listings read them.
struct FeedRowsTests {
    private static let own = DatabaseID(rawValue: 1)
    private static let shared = DatabaseID(rawValue: 2)
    private let tables = MemoryTables()

    private func add(_ name: String, _ number: Int64, in database: DatabaseID = own) throws {
        var row = ZoneRow(database: database, name: name, number: number)
        if database == Self.shared {
            row.targetDatabase = Self.own
            row.targetZone = number
        } else {
            row.records = number * 10
        }
        try self.tables.put(row)
    }

    @Test
    func `zones are listed by name, from a name on, whether it is there or not`() throws {
        for (number, name) in ["a", "b", "d"].enumerated() { try self.add(name, Int64(number + 1)) }
        try self.add("c", 9, in: Self.shared)
        func names(from name: String, limit: Int = 10) throws -> [String] {
            try self.tables.zones(of: Self.own, from: name, limit: limit).map(\.name)
        }
        #expect(try names(from: "") == ["a", "b", "d"])
        #expect(try names(from: "b") == ["b", "d"])
        #expect(try names(from: "b\0") == ["d"])
        #expect(try names(from: "c") == ["d"])
        #expect(try names(from: "b", limit: 1) == ["b"])
        #expect(try names(from: "", limit: 2) == ["a", "b"])
        #expect(try names(from: "e") == [])
    }

    @Test
    func `a zone of a shared database has the owner's counters and a client token of its own`() throws {
        try self.add("z", 5)
        try self.add("alice/z", 5, in: Self.shared)
        let key = ZoneKey(database: Self.own, number: 5)
        #expect(try self.tables.zones(of: Self.shared, from: "", limit: 1).map(\.key) == [key])
        try self.tables.setClientToken([1], of: key, for: Self.own)
        try self.tables.setClientToken([2], of: key, for: Self.shared)
        let owners = try #require(try self.tables.feedZone(named: "z", in: Self.own))
        let participants = try #require(try self.tables.feedZone(named: "alice/z", in: Self.shared))
        #expect(owners.key == key && participants.key == key)
        #expect(owners.recordCount == 50 && participants.recordCount == 50)
        #expect(owners.clientToken == [1] && participants.clientToken == [2])
        #expect(try self.tables.feedZone(named: "z", in: Self.shared) == nil)
    }

    @Test
    func `a client token for a zone that is gone is forgotten`() throws {
        try self.tables.setClientToken([1], of: ZoneKey(database: Self.own, number: 5), for: Self.own)
        #expect(try self.tables.count(RowRange(ZoneRow.byKey)) == 0)
    }
}
