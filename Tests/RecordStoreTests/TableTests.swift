import StorageContract
import Testing

@testable import RecordStore

/// What the contract says of rows, by the tables in memory that other tests rest on.
struct TableTests {
    @Test func `values are ordered by kind and then by number or bytes`() {
        let ordered: [ColumnValue] = [
            .null, .integer(-2), .integer(10), .text(""), .text("B"), .text("a"), .text("aa"), .text("é"),
            .bytes([]), .bytes([1]), .bytes([1, 0]), .bytes([2]),
        ]
        #expect(ordered.shuffled().sorted() == ordered)
    }

    /// Swift's strings are equal if their letters are; a column has the bytes.
    @Test func `texts of the same letters in other bytes are two keys`() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed)
        #expect(ColumnValue.text(composed) != .text(decomposed))
        let rows = MemoryTables()
        for identifier in [composed, decomposed] {
            _ = try rows.insert(ContainerRow(identifier: identifier, createdMilliseconds: 1))
        }
        #expect(try rows.row(ContainerRow.byIdentifier, composed)?.number == 1)
        #expect(try rows.row(ContainerRow.byIdentifier, decomposed)?.number == 2)
    }

    @Test func `a put replaces the row with its key, and another row keeps its unique values`() throws {
        let rows = MemoryTables()
        let number = try rows.insert(ContainerRow(identifier: "a", createdMilliseconds: 1))
        var row = try #require(try rows.row(ContainerRow.byKey, number))
        row.identifier = "b"
        try rows.put(row)
        #expect(try rows.row(ContainerRow.byIdentifier, "a") == nil)
        #expect(try rows.row(ContainerRow.byIdentifier, "b")?.number == number)
        #expect(throws: StorageFailure.self) {
            _ = try rows.insert(ContainerRow(identifier: "b", createdMilliseconds: 2))
        }
    }

    @Test func `a range goes on behind a value, in either direction`() throws {
        let rows = MemoryTables()
        for key in [1, 2] as [Int64] {
            for user in 1...5 as ClosedRange<Int64> {
                try rows.put(ServiceKeyUserRow(key: key, user: UserNumber(rawValue: user)))
            }
        }
        func users(_ range: RowRange<ServiceKeyUserRow>, limit: Int = .max) throws -> [Int64] {
            try rows.rows(range, limit: limit).map(\.user.rawValue)
        }
        let range = RowRange(ServiceKeyUserRow.byKey, 1 as Int64)
        #expect(try users(range, limit: 2) == [1, 2])
        #expect(try users(range.after(2 as Int64)) == [3, 4, 5])
        #expect(try users(range.descending.after(4 as Int64), limit: 2) == [3, 2])
        #expect(
            try users(RowRange(ServiceKeyUserRow.byKey).after(1 as Int64, 4 as Int64)) == [5, 1, 2, 3, 4, 5]
        )
        #expect(try rows.count(range, limit: 3) == 3)
        #expect(try rows.delete(range.after(1 as Int64), limit: 3) == 3)
        #expect(try users(range) == [1, 5])
    }
}
