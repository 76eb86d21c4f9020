import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// The tail of a database with three zones, without a database.
struct ChangeTailTests {
    private let tables = MemoryTables()
    private static let database = DatabaseID(rawValue: 1)

    init() throws {
        try self.setDatabase(position: 20, tombstonesGoneThrough: 3)
        let zones: [(String, Int64, Int64)] = [("notes", 2, 15), ("other", 9, 13), ("old", 1, 4)]
        for (name, number, position) in zones {
            var zone = ZoneRow(database: Self.database, name: name, number: number)
            zone.position = position
            try self.tables.put(zone)
        }
        var elsewhere = ZoneRow(database: DatabaseID(rawValue: 2), name: "elsewhere", number: 2)
        elsewhere.position = 12
        try self.tables.put(elsewhere)
        for (name, position) in [("other", 8), ("gone", 14)] as [(String, Int64)] {
            try self.tables.put(
                [
                    [.integer(1), .integer(position), .text(name), .integer(5), .integer(0)]
                ],
                in: ZoneTombstoneRow.table
            )
        }
    }

    private func setDatabase(position: Int64, tombstonesGoneThrough: Int64) throws {
        var row = DatabaseRow(
            environment: EnvironmentID(rawValue: 1),
            scope: .private,
            owner: UserNumber(rawValue: 1),
            position: position,
            epoch: 1,
            stored: StoredAmount()
        )
        row.number = Self.database
        row.tombstonesGoneThrough = tombstonesGoneThrough
        try self.tables.put(row)
    }

    private func words(after position: Int64, zonesMax: Int = ChangeTail.zonesMax) throws -> [String]? {
        let tail = try ChangeTail(of: Self.database, after: position, in: self.tables, zonesMax: zonesMax)
        #expect(try #require(tail).position == 20)
        return tail?.zones?.map { "\($0.position) \($0.isDeletion ? "-" : "")\($0.zone)" }
    }

    @Test func `zones come at their last change, deletions among them, in one order`() throws {
        #expect(try self.words(after: 3) == ["4 old", "8 -other", "13 other", "14 -gone", "15 notes"])
        #expect(try self.words(after: 4) == ["8 -other", "13 other", "14 -gone", "15 notes"])
        #expect(try self.words(after: 13) == ["14 -gone", "15 notes"])
        #expect(try self.words(after: 15) == [])
        #expect(try self.words(after: 20) == [])
    }

    @Test func `where tombstones are gone, and behind another life, nobody can tell`() throws {
        #expect(try self.words(after: 2) == nil)
        #expect(try self.words(after: 21) == nil)
        #expect(try ChangeTail(of: DatabaseID(rawValue: 99), after: 1, in: self.tables) == nil)
    }

    @Test func `beyond so many zones or deletions all may have changed`() throws {
        #expect(try self.words(after: 4, zonesMax: 3)?.count == 4)
        #expect(try self.words(after: 4, zonesMax: 2) == nil)
        for position in 16...19 as ClosedRange<Int64> {
            try self.tables.put(
                [
                    [.integer(1), .integer(position), .text("z\(position)"), .integer(5), .integer(0)]
                ],
                in: ZoneTombstoneRow.table
            )
        }
        #expect(try self.words(after: 4, zonesMax: 3) == nil)
        #expect(try self.words(after: 16, zonesMax: 3) == ["17 -z17", "18 -z18", "19 -z19"])
    }
}
