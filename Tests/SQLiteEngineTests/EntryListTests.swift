import RecordModel
import RecordStore
import StorageContract
import Testing

@testable import EngineConformance

/// The records that have one value, as an index lists them.
struct EntryListTests {
    @Test
    func `a list is in the order of numbers, begins at one of them, and ends at its limit`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        for name in 0..<12 {
            _ = try await it.modify([save("n\(name)", ["number": .int64(name < 10 ? 7 : 8)])])
        }
        let entries = try await IndexContents(of: OtherProcess(folder: it.folder)).present
        let lists = Dictionary(grouping: entries) { $0.value }.values
        let list = try #require(lists.first { $0.count == 10 }).sorted { $0.record < $1.record }
        let first = list[0]
        let zone = ZoneKey(
            database: DatabaseID(rawValue: Int64(first.database)),
            number: Int64(first.zone)
        )
        let numbers = list.map { Int64($0.record) }
        for start in [numbers[0] - 1, numbers[0], numbers[4], numbers[9], numbers[9] + 1] {
            for limit in 1...11 {
                let listed = try await it.snapshot { (snapshot) throws(StorageFailure) in
                    try snapshot.numbers(
                        NumberScan(first.value, of: Int64(first.index), in: zone, from: start, limit: limit)
                    ).elements
                }
                #expect(listed == Array(numbers.filter { $0 >= start }.prefix(limit)))
            }
        }
        await it.store.shutdown()
    }
}
