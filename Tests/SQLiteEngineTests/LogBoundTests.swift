import Foundation
import RecordModel
import TestSupport
import Testing

@testable import EngineConformance
@testable import SQLiteEngine

/// How long the log gets under a load of writes.
@Suite(.timeLimit(.minutes(10)))
struct LogBoundTests {
    private static let second: Int64 = 1_000_000_000

    private static let bounds: [(store: Int64, most: Int64)] = [
        (0, LogBound.pagesMin), (7_000, LogBound.pagesMin), (50_000, 200_000),
        (10_000_000, LogBound.pagesMax),
    ]

    @Test(arguments: bounds)
    func `a log may have four times the pages of its store, from 64 MB to 800 MB`(store: Int64, most: Int64) {
        var bound = LogBound()
        #expect(!bound.isDue(pages: 1, at: 0) { store })
        #expect(!bound.isDue(pages: most - 1, at: 0) { store })
        #expect(bound.isDue(pages: most, at: 0) { store })
    }

    @Test func `the size of a store is asked for once, and again for the next log`() {
        var bound = LogBound()
        var count = 0
        func isDue(_ pages: Int64) -> Bool {
            bound.isDue(pages: pages, at: 0) {
                count += 1
                return 50_000
            }
        }
        for pages in stride(from: 0, to: 200_000, by: 1_000) { #expect(!isDue(Int64(pages))) }
        #expect(count == 1)
        #expect(isDue(200_000))
        #expect(!isDue(10))
        #expect(!isDue(LogBound.pagesMin))
        #expect(count == 2)
    }

    @Test func `the writer spends little of its time in checkpoints`() {
        var bound = LogBound()
        #expect(bound.isDue(pages: LogBound.pagesMin, at: Self.second) { 0 })
        // It took 50 ms.
        let end = Self.second + Self.second / 20
        bound.checkpointed(from: Self.second, to: end)
        #expect(!bound.isDue(pages: LogBound.pagesMin, at: end + 10 * Self.second - 1) { 0 })
        #expect(bound.isDue(pages: LogBound.pagesMin, at: end + 10 * Self.second) { 0 })
    }

    @Test func `a small store under a load of writes has a short log`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let log = URL(fileURLWithPath: it.folder.path + "/tidemark.sqlite-wal")
        let body: [String: FieldValue] = ["b": .bytes([UInt8](repeating: 1, count: 1_000_000))]
        for number in 0..<110 {
            #expect(try await it.modify([save("r\(number % 4)", body)], policy: .allKeys).areSaved)
        }
        // The log is used again from its beginning, and does not get shorter.
        let bytes = try #require(log.resourceValues(forKeys: [.fileSizeKey]).fileSize)
        #expect(bytes < 80_000_000)
    }
}
