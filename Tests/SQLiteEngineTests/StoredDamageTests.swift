import Foundation
import GRDBSQLite
import RecordModel
import RecordStore
import SQLiteSetup
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import SQLiteEngine

/// Copies of a store with damaged bytes: each is refused, fails with an error, or has what it had.
///
/// `SEED=… swift test --filter StoredDamageTests` repeats a run; `TIDEMARK_DAMAGE_TRIALS=10000` makes a
/// long one.
@Suite(.timeLimit(.minutes(60)), .serialized)
struct StoredDamageTests {
    /// What a disk does to a file.
    private enum Harm: CaseIterable {
        case flipped, severalFlipped, zeroed, swapped, torn, foreign, cut
    }

    private enum Outcome: Hashable {
        /// The store does not open.
        case refused
        /// Something that is read fails.
        case told
        case asBefore
        /// What is read is not what was written.
        case served
    }

    private static let database = "tidemark.sqlite"
    private static let log = "tidemark.sqlite-wal"
    private static let note = "tidemark.sqlite-synced"
    private static let pageBytes = 4_096

    /// The files of a store, and what is read from them.
    private struct Sample {
        var files: [String: [UInt8]]
        var contents: Int
    }

    private static var trials: Int {
        ProcessInfo.processInfo.environment["TIDEMARK_DAMAGE_TRIALS"].flatMap { Int($0) } ?? 240
    }

    // MARK: Stores

    /// Only an engine that syncs notes what was synced.
    private static func syncs(_ settings: inout EngineSettings) {
        settings.syncFile = { fdatasync($0) == 0 ? 0 : errno }
    }

    private static func fill(_ it: EngineUnderTest, _ records: Range<Int>) async throws {
        for start in stride(from: records.lowerBound, to: records.upperBound, by: 20) {
            let saves = (start..<min(start + 20, records.upperBound)).map { number in
                save(
                    "n\(number &* 7_919 % 10_007)",
                    [
                        "count": .int64(Int64(number)),
                        "title": .string("title \(number % 37)"),
                        "text": .string(String(repeating: "text \(number) ", count: number % 400 + 1)),
                    ]
                )
            }
            #expect(try await it.modify(saves).areSaved)
        }
    }

    private static func files(in folder: TemporaryDirectory) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in [Self.database, Self.log, Self.note] {
            let path = folder.path + "/" + name
            guard FileManager.default.fileExists(atPath: path) else { continue }
            files[name] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }
        return files
    }

    /// Closed, so that everything is in the database.
    private static func closedSample() async throws -> Sample {
        let it = try await EngineUnderTest.withNotes(.sqlite, configure: Self.syncs)
        try await Self.fill(it, 0..<300)
        await it.store.shutdown()
        let files = try Self.files(in: it.folder)
        return Sample(files: files, contents: try #require(try Self.read(files, sums: true)))
    }

    /// As a kill leaves it, with the last saves in the log alone.
    private static func killedSample() async throws -> Sample {
        let before = try await EngineUnderTest.withNotes(.sqlite, configure: Self.syncs)
        try await Self.fill(before, 0..<100)
        let it = try await before.reopened(configure: Self.syncs)
        try await Self.fill(it, 100..<200)
        let files = try Self.files(in: it.folder)
        let log = try #require(files[Self.log])
        #expect(log.count > 200_000)
        await it.store.shutdown()
        return Sample(files: files, contents: try #require(try Self.read(files, sums: true)))
    }

    // MARK: Trials

    /// Hashes every row of every table in a folder with such files.
    ///
    /// - Returns: `nil` if anything fails. `sums` are those that the engine's connections compare.
    private static func read(_ files: [String: [UInt8]], sums: Bool) throws -> Int? {
        let folder = try TemporaryDirectory()
        for (name, bytes) in files {
            try Data(bytes).write(to: URL(fileURLWithPath: folder.path + "/" + name))
        }
        let file = try PlainFile(path: folder.path + "/" + Self.database)
        if sums { try file.useSums() }
        return try? file.hash()
    }

    private static func outcome(of files: [String: [UInt8]], _ sample: Sample) throws -> Outcome {
        let folder = try TemporaryDirectory()
        for (name, bytes) in files {
            try Data(bytes).write(to: URL(fileURLWithPath: folder.path + "/" + name))
        }
        var configuration = SQLiteEngineConfiguration(directory: folder.path, housekeeping: nil)
        configuration.preparation = .none
        let file = try DatabaseFile(configuration: configuration)
        do throws(SQLiteEngineError) {
            // The checks of a start.
            let writer = try file.openWriter()
            defer { withExtendedLifetime(writer) {} }
            guard let reader = try? PlainFile(path: file.path), (try? reader.useSums()) != nil else {
                return .told
            }
            // As the engine's readers map it.
            try? reader.run("PRAGMA mmap_size = 2147418112")
            guard let contents = try? reader.hash() else { return .told }
            return contents == sample.contents ? .asBefore : .served
        } catch {
            return .refused
        }
    }

    /// Damages a file in pieces of a page, or of a frame of the log.
    private static func harm(
        _ bytes: [UInt8],
        _ harm: Harm,
        foreign: [UInt8],
        piece: Int,
        from start: Int,
        _ generator: inout SeededGenerator
    ) -> [UInt8] {
        var damaged = bytes
        let pieces = (bytes.count - start) / piece
        func range(_ index: Int) -> Range<Int> { start + index * piece..<start + (index + 1) * piece }
        let one = range(Int.random(in: 0..<pieces, using: &generator))
        let other = range(Int.random(in: 0..<pieces, using: &generator))
        switch harm {
        case .flipped, .severalFlipped:
            for _ in 0..<(harm == .flipped ? 1 : 8) {
                damaged[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
        case .zeroed: damaged.replaceSubrange(one, with: repeatElement(0, count: piece))
        case .swapped:
            damaged.replaceSubrange(one, with: bytes[other])
            damaged.replaceSubrange(other, with: bytes[one])
        case .torn:
            let cut = one.lowerBound + 512 * Int.random(in: 1...7, using: &generator)
            damaged.replaceSubrange(cut..<one.upperBound, with: bytes[other].suffix(one.upperBound - cut))
        case .foreign:
            let place = one.upperBound <= foreign.count ? one : range(0)
            damaged.replaceSubrange(place, with: foreign[place])
        case .cut: damaged.removeLast(Int.random(in: 1..<bytes.count - start, using: &generator))
        }
        return damaged
    }

    /// Counts what became of trials, and expects that nothing was served.
    private static func tryAll(
        _ name: String,
        of sample: Sample,
        foreign: Sample,
        piece: Int,
        from start: Int,
        _ generator: inout SeededGenerator
    ) throws -> [Outcome: Int] {
        let bytes = try #require(sample.files[name])
        let others = try #require(foreign.files[name])
        var counts: [Outcome: Int] = [:]
        for trial in 0..<Self.trials {
            let harm = Harm.allCases[trial % Harm.allCases.count]
            var files = sample.files
            let damaged = Self.harm(
                bytes,
                harm,
                foreign: others,
                piece: piece,
                from: start,
                &generator
            )
            files[name] = damaged
            let outcome = try Self.outcome(of: files, sample)
            counts[outcome, default: 0] += 1
            #expect(outcome != .served, "trial \(trial): \(harm)")
            // The last page of the file may be a free one; the last frame of the log never is.
            if harm == .cut, name == Self.log { #expect(outcome == .refused, "trial \(trial)") }
        }
        print("\(name): \(counts)")
        return counts
    }

    @Test
    func `no damaged page of the database is served`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let sample = try await Self.closedSample()
        let foreign = try await Self.closedSample()
        let counts = try Self.tryAll(
            Self.database,
            of: sample,
            foreign: foreign,
            piece: Self.pageBytes,
            from: 0,
            &generator
        )
        #expect(counts[.told, default: 0] + counts[.refused, default: 0] > Self.trials / 2, "\(counts)")
    }

    @Test
    func `no save that was synced disappears with a damaged log`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let sample = try await Self.killedSample()
        let foreign = try await Self.killedSample()
        let counts = try Self.tryAll(
            Self.log,
            of: sample,
            foreign: foreign,
            piece: LogFile.frameHeaderBytes + Self.pageBytes,
            from: LogFile.headerBytes,
            &generator
        )
        #expect(counts[.refused, default: 0] > Self.trials * 3 / 4, "\(counts)")
    }

    @Test
    func `no damaged page of a backup is restored`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let it = try await EngineUnderTest.withNotes(.sqlite, configure: Self.syncs)
        try await Self.fill(it, 0..<100)
        let whole = try TemporaryDirectory()
        let path = whole.path + "/" + Self.database
        try StoreFile(in: it.folder.path).copy(to: path) { _ in }.close()
        #expect(try PageSums.wrongPages(inFile: path) == [])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let contents = try #require(try Self.read([Self.database: bytes], sums: true))
        var counts: [Outcome: Int] = [:]
        for trial in 0..<Self.trials / 4 {
            let damaged = Self.harm(
                bytes,
                Harm.allCases[trial % Harm.allCases.count],
                foreign: bytes,
                piece: Self.pageBytes,
                from: 0,
                &generator
            )
            let folder = try Self.folder([Self.database: damaged])
            let outcome = Self.restored(folder.path + "/" + Self.database, contents)
            counts[outcome, default: 0] += 1
            #expect(outcome != .served, "trial \(trial)")
        }
        print("backup: \(counts)")
        #expect(counts[.told, default: 0] + counts[.refused, default: 0] > Self.trials / 8, "\(counts)")
    }

    /// The outcome of a backup's file without a comparison of its hash.
    private static func restored(_ path: String, _ contents: Int) -> Outcome {
        do throws(StoreCopyError) { try DatabaseCopy(ofBackup: path).close() } catch { return .refused }
        guard let file = try? PlainFile(path: path), (try? file.useSums()) != nil,
            let found = try? file.hash()
        else { return .told }
        return found == contents ? .asBefore : .served
    }

    @Test
    func `the same damage is served without checksums`() async throws {
        var generator = SeededGenerator(seed: 44)
        let sample = try await Self.closedSample()
        let bytes = try #require(sample.files[Self.database])
        var served = 0
        for _ in 0..<60 {
            var files = sample.files
            files[Self.database] = Self.harm(
                bytes,
                .severalFlipped,
                foreign: [],
                piece: Self.pageBytes,
                from: 0,
                &generator
            )
            if let contents = try Self.read(files, sums: false), contents != sample.contents { served += 1 }
        }
        #expect(served > 0)
    }

    // MARK: Files

    @Test
    func `every page of the file has a checksum of its number and the file`() async throws {
        let sample = try await Self.closedSample()
        let other = try await Self.closedSample()
        let identities = try [sample, other].map { sample in
            let bytes = try #require(sample.files[Self.database])
            var identities: Set<UInt64> = []
            for number in 1...bytes.count / Self.pageBytes {
                let page = Array(bytes[(number - 1) * Self.pageBytes..<number * Self.pageBytes])
                let check = PageSums.check(page, number: number)
                #expect(check.isRight, "page \(number)")
                identities.insert(check.identity)
            }
            return identities
        }
        #expect(identities.allSatisfy { $0.count == 1 })
        #expect(identities[0] != identities[1])
    }

    @Test(arguments: [LogLoss.Finding.logMissing, .logCut, .logForeign, .databaseOlder])
    func `a store that lacks what was synced is refused, and goes on as another life`(
        finding: LogLoss.Finding
    ) async throws {
        let before = try await EngineUnderTest.withNotes(.sqlite, configure: Self.syncs)
        try await Self.fill(before, 0..<20)
        // All of it is in the file.
        let it = try await before.reopened(configure: Self.syncs)
        let token = try await it.token(of: notes)
        let early = try Self.files(in: it.folder)
        // A snapshot keeps the rest from being copied there.
        var snapshot: PlainFile? = try PlainFile(path: it.folder.path + "/" + Self.database)
        try snapshot?.run("BEGIN; SELECT count(*) FROM record")
        try await Self.fill(it, 20..<60)
        let last = try #require(try await it.record(id("n\(59 &* 7_919 % 10_007)"))).changeTag
        var files = try Self.files(in: it.folder)
        let log = try #require(files[Self.log])
        snapshot = nil
        await it.store.shutdown()
        switch finding {
        case .logMissing: files[Self.log] = nil
        case .logCut: files[Self.log] = Array(log.prefix(log.count / 2))
        case .logForeign: files[Self.log] = try await Self.killedSample().files[Self.log]
        case .databaseOlder, .logDamaged:
            files = try Self.files(in: it.folder)
            files[Self.database] = early[Self.database]
            files[Self.log] = nil
        }
        let folder = try Self.folder(files)
        #expect(throws: SQLiteEngineError.self) {
            _ = try EngineUnderTest(.sqlite, openingFilesIn: folder)
        }
        let repair = try StoreRepair(in: folder.path)
        let loss = try #require(repair.loss)
        #expect(loss.finding == finding)
        #expect(!loss.isInFile)
        try repair.acceptLoss(nowMilliseconds: it.clock.milliseconds)
        let next = try EngineUnderTest(.sqlite, openingFilesIn: folder)
        // No tag and no token of the life that ended counts in the new one.
        await #expect(throws: StoreError.changeTokenExpired) { try await next.all(after: token) }
        try await Self.fill(next, 70..<71)
        let tag = try #require(try await next.record(id("n\(70 &* 7_919 % 10_007)"))).changeTag
        #expect(tag != last)
        #expect(try StoreRepair(in: folder.path).loss == nil)
    }

    private static func folder(_ files: [String: [UInt8]]) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        for (name, bytes) in files {
            try Data(bytes).write(to: URL(fileURLWithPath: folder.path + "/" + name))
        }
        return folder
    }

    @Test
    func `a damaged log begins anew without a loss if the file has everything`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite, configure: Self.syncs)
        try await Self.fill(it, 0..<40)
        let other = OtherProcess(folder: it.folder)
        let count = try await other.count("record")
        // A checkpoint beside the writer leaves the log as it is.
        let file = try DatabaseFile(
            configuration: SQLiteEngineConfiguration(directory: it.folder.path, housekeeping: nil)
        )
        let checkpointer = try PlainFile(path: file.path)
        try checkpointer.useSums()
        try checkpointer.run("PRAGMA wal_checkpoint(PASSIVE)")
        var files = try Self.files(in: it.folder)
        files[Self.log]?[100_000] ^= 1
        let folder = try Self.folder(files)
        await it.store.shutdown()
        let repair = try StoreRepair(in: folder.path)
        #expect(repair.loss?.finding == .logCut)
        #expect(repair.loss?.isInFile == true)
        try repair.dropLog()
        let next = try EngineUnderTest(.sqlite, openingFilesIn: folder)
        #expect(try await OtherProcess(folder: next.folder).count("record") == count)
        #expect(try await next.record(id("n\(39 &* 7_919 % 10_007)")) != nil)
    }

    @Test
    func `a checkpoint stops at a wrong frame`() async throws {
        let sample = try await Self.killedSample()
        let folder = try Self.folder(sample.files)
        let reader = try PlainFile(path: folder.path + "/" + Self.database)
        try reader.useSums()
        #expect(try reader.hash() == sample.contents)
        // SQLite has recovered the log, and compares nothing any more.
        let log = try FileHandle(forUpdating: URL(fileURLWithPath: folder.path + "/" + Self.log))
        // The last frame is the newest of its page.
        let bytes = try #require(sample.files[Self.log])
        let offset = 32 + ((bytes.count - 32) / 4_120 - 1) * 4_120 + 24 + 2_000
        try log.seek(toOffset: UInt64(offset))
        try log.write(contentsOf: [~bytes[offset]])
        try log.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + Self.database))
        #expect(throws: PlainFile.Failure.self) { try reader.run("PRAGMA wal_checkpoint(PASSIVE)") }
        let after = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + Self.database))
        let pages = after.count / Self.pageBytes
        for number in 1...pages {
            let page = [UInt8](after[(number - 1) * Self.pageBytes..<number * Self.pageBytes])
            #expect(PageSums.check(page, number: number).isRight, "page \(number) of \(before.count)")
        }
    }
}

extension PlainFile {
    /// Hashes the rows of all tables.
    func hash() throws -> Int {
        var hasher = Hasher()
        for name in try self.texts("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
            hasher.combine(name)
            try self.hash("SELECT * FROM \"\(name)\"", into: &hasher)
        }
        return hasher.finalize()
    }
}
