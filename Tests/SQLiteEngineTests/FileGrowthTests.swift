import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// What the file of a store grows by, beside what the store counts.
@Suite(.timeLimit(.minutes(10)))
struct FileGrowthTests {
    /// What fills a store.
    enum Load: String, CaseIterable, CustomTestStringConvertible {
        case emptyRecords, indexedFields, largeBodies, tombstones, zones, smallRequests, acknowledgements

        var testDescription: String { self.rawValue }

        private static func names(_ batch: Int) -> [String] { (0..<400).map { "\(batch)-\($0)" } }

        func fill(_ it: EngineUnderTest) async throws {
            switch self {
            case .emptyRecords:
                for batch in 0..<50 {
                    #expect(try await it.modify(Self.names(batch).map { save($0) }).areSaved)
                }
            case .indexedFields:
                for batch in 0..<5 {
                    let saves = Self.names(batch).prefix(100).enumerated().map { index, name in
                        let fields = (0..<100).map { ("f\($0)", FieldValue.int64(Int64(index * 7_919 + $0))) }
                        return save(name, Dictionary(uniqueKeysWithValues: fields))
                    }
                    #expect(try await it.modify(saves).areSaved)
                }
            case .largeBodies:
                for number in 0..<100 {
                    let bytes = FieldValue.bytes([UInt8](repeating: 1, count: 20_000))
                    #expect(try await it.modify([save("r\(number)", ["b": bytes])]).areSaved)
                }
            case .tombstones:
                for batch in 0..<20 {
                    let names = Self.names(batch)
                    #expect(try await it.modify(names.map { save($0) }).areSaved)
                    _ = try await it.modify([], deletes: names.map { id($0) })
                }
            case .zones:
                for batch in 0..<2 { _ = try await it.modifyZones(Self.names(batch)) }
            case .smallRequests:
                for _ in 0..<1_500 {
                    #expect(try await it.modify([save("a")], policy: .changedKeys).areSaved)
                }
            case .acknowledgements:
                let subscriptions = (0..<100).map { query("s\($0)", type: "T\($0)") }
                #expect(try await it.modifySubscriptions(subscriptions).allSatisfy { $0.error == nil })
                for installation in 1...40 as ClosedRange<UInt8> {
                    try await it.acknowledgeAll(by: installation)
                }
                let other = OtherProcess(folder: it.folder)
                while try await other.count("listener_cursor") < 4_000 {}
            }
        }
    }

    private static func stored(_ it: EngineUnderTest) throws -> Int64 {
        try it.store.directory.usage(ofContainer: EngineUnderTest.container).total(ofUser: "alice").bytes
    }

    @Test(arguments: Load.allCases)
    func `what usage says is within a factor of two of what the file has grown by`(load: Load) async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let other = OtherProcess(folder: it.folder)
        /// Pages in use, of the file and of its log.
        func fileBytes() async throws -> Int64 {
            let rows = try await other.execute(
                """
                SELECT (page_count - freelist_count) * page_size
                FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()
                """
            )
            return try #require(rows.first.flatMap { Int64($0) })
        }
        let fileBefore = try await fileBytes()
        let before = try Self.stored(it)
        try await load.fill(it)
        while try await other.count("index_build") > 0 {}
        let counted = Double(try Self.stored(it) - before)
        let taken = Double(try await fileBytes() - fileBefore)
        #expect(taken > 40_000)
        #expect((0.5...2).contains(counted / taken), "\(counted) bytes are counted, and \(taken) taken")
        #expect(try await it.wrongCounters() == [])
    }
}
