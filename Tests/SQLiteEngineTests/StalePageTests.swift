import Foundation
import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformance
@testable import SQLiteEngine

/// Pages that are earlier states of themselves, as after a write that the disk lost: what reads and a
/// verification tell of them.
///
/// Their checksums are right.
@Suite(.timeLimit(.minutes(60)))
struct StalePageTests {
    private enum Outcome: Hashable {
        /// The store does not open, or a read fails.
        case failed
        /// A verification, or SQLite's check, has a finding.
        case found
        case asBefore
        /// What is read is not what was written, and nothing tells.
        case silent
    }

    private static let pageBytes = StoredDamageTests.pageBytes

    /// The file of a store before and after some changes, closed both times.
    private static func states() async throws -> (before: [UInt8], files: [String: [UInt8]]) {
        let it = try await EngineUnderTest.withNotes(.sqlite, configure: StoredDamageTests.syncs)
        try await StoredDamageTests.fill(it, 0..<400)
        await it.store.shutdown()
        let before = try #require(try StoredDamageTests.files(in: it.folder)[StoredDamageTests.database])
        let next = try await it.reopened(configure: StoredDamageTests.syncs)
        try await StoredDamageTests.fill(next, 400..<460)
        for number in stride(from: 0, to: 400, by: 7) {
            let change = save("n\(number &* 7_919 % 10_007)", ["title": .string("changed \(number)")])
            _ = try await next.modify([change], policy: .changedKeys)
        }
        await next.store.shutdown()
        return (before, try StoredDamageTests.files(in: next.folder))
    }

    private static func contents(in folder: TemporaryDirectory) -> Int? {
        guard let file = try? PlainFile(path: folder.path + "/" + StoredDamageTests.database),
            (try? file.useSums()) != nil
        else { return nil }
        return try? file.hash()
    }

    private static func outcome(of files: [String: [UInt8]], _ contents: Int) async throws -> Outcome {
        let folder = try StoredDamageTests.folder(files)
        guard let found = Self.contents(in: folder) else { return .failed }
        guard found != contents else { return .asBefore }
        guard let it = try? EngineUnderTest(.sqlite, openingFilesIn: folder) else { return .failed }
        let findings = try await StoreVerification(it.store).run().findingsCount
        let lines = (try? StoreFile(in: folder.path).checkPages { _, _ in })?.count ?? 1
        await it.store.shutdown()
        return findings + lines > 0 ? .found : .silent
    }

    @Test
    func `most pages that are earlier states of themselves are told`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let (before, files) = try await Self.states()
        let after = try #require(files[StoredDamageTests.database])
        let contents = try #require(Self.contents(in: try StoredDamageTests.folder(files)))
        func range(_ page: Int) -> Range<Int> { page * Self.pageBytes..<(page + 1) * Self.pageBytes }
        let changed = (0..<min(before.count, after.count) / Self.pageBytes)
            .filter { before[range($0)] != after[range($0)] }
        #expect(changed.count > 30)
        var counts: [Outcome: Int] = [:]
        for _ in 0..<max(changed.count, StoredDamageTests.trials / 4) {
            let page = changed[Int.random(in: changed.indices, using: &generator)]
            var stale = files
            stale[StoredDamageTests.database]?.replaceSubrange(range(page), with: before[range(page)])
            counts[try await Self.outcome(of: stale, contents), default: 0] += 1
        }
        print("stale pages: \(counts)")
        let told = counts[.failed, default: 0] + counts[.found, default: 0]
        #expect(told > 4 * counts[.silent, default: 0], "\(counts)")
    }
}
