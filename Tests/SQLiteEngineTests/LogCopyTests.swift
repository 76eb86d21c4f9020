import Foundation
import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance

/// The copy of the log into the file while nobody writes.
@Suite(.timeLimit(.minutes(10)))
struct LogCopyTests {
    @Test
    func `a store that was filled and is then read is mapped to its end, without another commit`()
        async throws
    {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let file = it.folder.path + "/tidemark.sqlite"
        func fill(from start: Int) async throws {
            for first in stride(from: start, to: start + 2_000, by: 200) {
                let saves = (first..<first + 200).map {
                    save("r\($0)", ["text": .string(String(repeating: "x", count: 4_000))])
                }
                #expect(try await it.modify(saves).areSaved)
            }
        }
        /// How long the file is when the log was copied, which happens when nobody has written for a second.
        func copied(beyond bytes: Int) async throws -> Int {
            var last = 0
            while try last <= bytes || last < Self.bytes(of: file) {
                last = try Self.bytes(of: file)
                try await Task.sleep(for: .milliseconds(500))
            }
            return last
        }
        try await fill(from: 0)
        let short = try await copied(beyond: 4_000_000)
        try await fill(from: 2_000)
        // The file is as short as before: whoever reads now maps that.
        #expect(try await it.fetch([id("r0")]).count == 1)
        let mappedFirst = try Self.mappedBytes(of: file)
        // Or nothing is mapped yet, as the record was still in the cache; or the log has been
        // copied by now, on a busy machine.
        let isCopied = try Self.bytes(of: file) > short
        #expect(isCopied || mappedFirst ?? 0 <= short)
        let long = try await copied(beyond: short)
        var mapped = 0
        while mapped < long {
            // The copy may still be under way.
            try await Task.sleep(for: .milliseconds(50))
            #expect(try await it.fetch([id("r3999")]).count == 1)
            mapped = try #require(try Self.mappedBytes(of: file))
        }
        #expect(mapped >= long)
    }

    /// Pages of the log, and how many of them are in the file too, as the index of the log has them.
    private static func copied(of file: String) throws -> (pages: UInt32, inFile: UInt32) {
        let index = try Data(contentsOf: URL(fileURLWithPath: file + "-shm"))
        func number(at offset: Int) -> UInt32 {
            // SAFETY: the pointer is used within the closure, and the slice has the bytes of the number.
            index.subdata(in: offset..<offset + 4).withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        }
        return (number(at: 16), number(at: 96))
    }

    @Test
    func `an installation that follows a zone all the time costs no sync a second, and the log is copied`()
        async throws
    {
        let syncs = Atomic<Int>(0)
        let it = try await EngineUnderTest.withNotes(.sqlite) { settings in
            settings.syncFile = { _ in
                syncs.add(1, ordering: .relaxed)
                return 0
            }
        }
        let file = it.folder.path + "/tidemark.sqlite"
        #expect(try await it.modify([save("a", ["text": .string("1")])]).areSaved)
        var read = FeedRead(zone: notes)
        read.installation = [UInt8](repeating: 1, count: 16)
        func follow(times: Int) async throws {
            for _ in 0..<times {
                _ = try await it.changes(read)
                try await Task.sleep(for: .milliseconds(250))
            }
        }
        // Its row is written a while after the first page, and then the log is copied once more.
        var isSettled = false
        while !isSettled {
            try await follow(times: 1)
            let (pages, inFile) = try Self.copied(of: file)
            isSettled = try it.count(InstallationSeenRow.self) == 1 && pages == inFile
        }
        let before = syncs.load(ordering: .relaxed)
        try await follow(times: 14)
        #expect(syncs.load(ordering: .relaxed) == before)
        let (pages, inFile) = try Self.copied(of: file)
        #expect(pages > 0 && inFile == pages)
    }

    @Test
    func `a shutdown leaves no log, unless somebody reads from it`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let log = it.folder.path + "/tidemark.sqlite-wal"
        #expect(try await it.modify([save("a", ["text": .string("1")])]).areSaved)
        #expect(try Self.bytes(of: log) > 0)
        await it.store.shutdown()
        #expect(try !FileManager.default.fileExists(atPath: log) || Self.bytes(of: log) == 0)
    }

    private static func bytes(of file: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
    }

    /// Of the longest mapping of a file in this process, or `nil` if there is none.
    private static func mappedBytes(of file: String) throws -> Int? {
        try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n")
            .filter { $0.hasSuffix(file) }
            .compactMap { line in
                let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { Int($0, radix: 16) }
                return range.count == 2 ? range[1] - range[0] : nil
            }
            .max()
    }
}
