import Foundation
import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import SQLiteEngine

/// Copies of a store that are continued from its log.
@Suite(.timeLimit(.minutes(10)))
struct FollowerTests {
    private static let text = String(repeating: "x", count: 3_000)

    /// A hash of all rows of all tables, with what SQLite finds wrong before it.
    private static func digest(_ path: String) async throws -> String {
        let script = """
            import hashlib, sqlite3, sys
            connection = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
            connection.execute("BEGIN")
            print(*connection.execute("PRAGMA integrity_check").fetchone())
            hash = hashlib.sha256()
            tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            for (table,) in tables.fetchall():
                hash.update(table.encode())
                for row in connection.execute(f'SELECT * FROM "{table}"'): hash.update(repr(row).encode())
            print(hash.hexdigest())
            """
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            ["-c", script, path]
        )
        #expect(outcome.output.hasPrefix("ok\n"), "\(outcome.output) \(outcome.errors)")
        return outcome.output
    }

    private static func salts(_ position: StorePosition) -> String {
        position.rawValue.split(separator: "-").prefix(2).joined(separator: "-")
    }

    @Test
    func `a copy with all its increments is the store, whatever the log and the follower went through`()
        async throws
    {
        var generator = SeededGenerator.fromEnvironment()
        print("FollowerTests: SEED=\(generator.seed)")
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let checkpointer = try PlainFile(path: it.folder.path + "/tidemark.sqlite")
        try checkpointer.useSums()
        let copies = try TemporaryDirectory()
        let (copy, pages) = (copies.path + "/copy", copies.path + "/pages")
        func open() throws -> StoreFollower {
            try StoreFollower(in: it.folder.path, clock: { 7 }, framesMax: 30)
        }
        var follower = try open()
        var position = try follower.copyAll(to: copy) { _ in }.position
        var (beginnings, resumed, lost, unchanged) = (0, 0, 0, 0)
        for round in 0..<24 {
            for number in 0..<Int.random(in: 0...12, using: &generator) {
                let name = "r\(Int.random(in: 0..<40, using: &generator))"
                if number % 4 == 3 {
                    _ = try await it.modify([], deletes: [id(name)])
                } else {
                    let saves = [save(name, ["text": .string(Self.text + "\(round) \(number)")])]
                    _ = try await it.modify(saves, policy: .allKeys)
                }
            }
            switch Int.random(in: 0..<3, using: &generator) {
            case 0:
                follower.close()
                follower = try open()
                if try follower.resume(after: position) {
                    resumed += 1
                } else {
                    lost += 1
                    position = try follower.copyAll(to: copy) { _ in }.position
                }
            case 1: try checkpointer.run("PRAGMA wal_checkpoint(PASSIVE)")
            default: break
            }
            var store = ""
            copying: while true {
                switch try follower.copyChanges(to: pages) {
                case .lost: Issue.record("the follower has lost the log in round \(round)")
                case .unchanged(let moment):
                    #expect(moment.milliseconds == 7)
                    unchanged += store.isEmpty ? 1 : 0
                    // The engine keeps house by itself; now nothing came after the store was read.
                    if !store.isEmpty { break copying }
                case .copied(let moment):
                    try PageFile.apply(pages, to: copy)
                    if Self.salts(moment.position) != Self.salts(position) { beginnings += 1 }
                    position = moment.position
                }
                try follower.release()
                store = try await Self.digest(it.folder.path + "/tidemark.sqlite")
            }
            #expect(try await Self.digest(copy) == store)
            #expect(try PageSums.wrongPages(inFile: copy) == [])
        }
        follower.close()
        print(
            "FollowerTests: \(beginnings) beginnings, \(resumed) resumed, \(lost) lost, \(unchanged) unchanged"
        )
        #expect(beginnings > 2)
        #expect(resumed + lost > 0)
        try await Self.becomesStore(copy)
    }

    /// They are in no copy yet, and the log that has them is about to be begun anew.
    @Test(arguments: [false, true])
    func `commits between the last copy and the lock are in the next increment`(
        isWrittenAfter: Bool
    ) async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let copies = try TemporaryDirectory()
        let (copy, pages) = (copies.path + "/copy", copies.path + "/pages")
        let follower = try StoreFollower(in: it.folder.path, clock: { 7 }, framesMax: 1)
        defer { follower.close() }
        var position = try follower.copyAll(to: copy) { _ in }.position
        var beginnings = 0
        func take() throws -> Bool {
            switch try follower.copyChanges(to: pages) {
            case .lost: throw StoreCopyError.isDamaged(code: 0)
            case .unchanged: return false
            case .copied(let moment):
                try PageFile.apply(pages, to: copy)
                if Self.salts(moment.position) != Self.salts(position) { beginnings += 1 }
                position = moment.position
                return true
            }
        }
        for round in 0..<12 {
            _ = try await it.modify([save("before \(round)", ["text": .string(Self.text)])])
            #expect(try take())
            // More than a few pages, so the file grows with the commits that only memory has.
            for number in 0..<4 {
                _ = try await it.modify([save("rest \(round) \(number)", ["text": .string(Self.text)])])
            }
            try follower.release()
            if isWrittenAfter {
                _ = try await it.modify([save("after", ["text": .string("\(round)")])], policy: .allKeys)
            }
            #expect(try take())
            var store = ""
            repeat { store = try await Self.digest(it.folder.path + "/tidemark.sqlite") } while try take()
            #expect(try await Self.digest(copy) == store, "round \(round)")
        }
        // Otherwise nothing was held.
        #expect(beginnings > 6)
    }

    /// The file that was put together is a backup, and becomes a store.
    private static func becomesStore(_ copy: String) async throws {
        let folder = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: copy, toPath: StoreFile.path(in: folder.path))
        let backup = try DatabaseCopy(ofBackup: StoreFile.path(in: folder.path))
        try backup.beginNewLife(nowMilliseconds: 1_700_000_000_000)
        try backup.close()
        let restored = try EngineUnderTest(.sqlite, openingFilesIn: folder)
        #expect(try await restored.modify([save("after")]).areSaved)
    }

    @Test
    func `what was written while nobody followed is known to be lost, if the log was begun anew`()
        async throws
    {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let copies = try TemporaryDirectory()
        func open() throws -> StoreFollower { try StoreFollower(in: it.folder.path, clock: { 7 }) }
        var position = StorePosition(rawValue: "none")
        var isResumed = false
        // The engine copies its log when nobody has written for a second, and then begins it anew.
        for number in 0..<20 where !isResumed {
            let first = try open()
            position = try first.copyAll(to: copies.path + "/copy") { _ in }.position
            _ = try await it.modify([save("unseen \(number)")])
            let second = try open()
            isResumed = try second.resume(after: position)
            first.close()
            second.close()
        }
        #expect(isResumed)
        let checkpointer = try PlainFile(path: it.folder.path + "/tidemark.sqlite")
        try checkpointer.useSums()
        #expect(try checkpointer.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0] == 0)
        for position in [position, StorePosition(rawValue: "none"), StorePosition(rawValue: "1-2-3")] {
            let third = try open()
            #expect(try !third.resume(after: position))
            third.close()
        }
        _ = try await it.modify([save("new")])
        let fourth = try open()
        #expect(try !fourth.resume(after: position))
        // Without a position there are no changes to be told.
        #expect(try fourth.copyChanges(to: copies.path + "/pages") == .lost)
        fourth.close()
    }

    @Test
    func `a log that is cut or changed anywhere has the commits before, and no part of one`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        for number in 0..<6 {
            _ = try await it.modify([save("r\(number)", ["text": .string(Self.text)])])
        }
        let path = it.folder.path + "/tidemark.sqlite"
        let whole = try #require(try LogFile(of: path))
        let header = try #require(try whole.header())
        let start = LogPosition(salts: header.salts, frames: 0, sum: header.sum)
        let all = try whole.commits(after: start, header)
        let folder = try TemporaryDirectory()
        let copy = folder.path + "/copy"
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        let frame = LogFile.frameHeaderBytes + header.pageBytes
        func commits(of log: Data) throws -> Int64 {
            try log.write(to: URL(fileURLWithPath: copy + "-wal"))
            guard let file = try LogFile(of: copy), let header = try file.header() else { return 0 }
            return try file.commits(
                after: LogPosition(salts: header.salts, frames: 0, sum: header.sum),
                header
            ).position.frames
        }
        #expect(try commits(of: bytes) == all.position.frames && all.position.frames > 6)
        let ends = Set((0...Int(all.position.frames)).map { LogFile.headerBytes + $0 * frame })
        var found: Set<Int64> = []
        for number in 0..<Int(all.position.frames) {
            let offset = LogFile.headerBytes + number * frame
            for at in [offset, offset + 3, offset + 9, offset + 17, offset + 40, offset + frame - 1] {
                let cut = try commits(of: bytes.prefix(at))
                var changed = bytes
                changed[at] ^= 1
                #expect(cut <= Int64(number) && ends.contains(LogFile.headerBytes + Int(cut) * frame))
                #expect(try commits(of: changed) == cut, "frame \(number)")
                found.insert(cut)
            }
        }
        // The commits before, each of them, and nothing between.
        #expect(found.count >= 6)
        for at in 0..<LogFile.headerBytes {
            var changed = bytes
            changed[at] ^= 1
            #expect(try commits(of: changed) == 0)
        }
    }

    @Test
    func `pages that are cut or have a wrong header are refused`() throws {
        let folder = try TemporaryDirectory()
        let (path, copy) = (folder.path + "/pages", folder.path + "/copy")
        try Data(count: 4 * 4_096).write(to: URL(fileURLWithPath: copy))
        try PageSums.restore(inFile: copy)
        let file = PageFile(pageBytes: 4_096, filePages: 3, numbers: [1, 3])
        try file.write(to: path) { number in [UInt8](repeating: UInt8(number), count: 4_096) }
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        try PageFile.apply(path, to: copy)
        let applied = try Data(contentsOf: URL(fileURLWithPath: copy))
        #expect(applied.count == 3 * 4_096)
        #expect(applied[0] == 1 && applied[4_096] == 0 && applied[8_192] == 3)
        #expect(try PageSums.wrongPages(inFile: copy) == [])
        #expect(Array(applied[68..<72]) == Array("TDMB".utf8) && Array(applied[18..<20]) == [1, 1])
        var others = (0..<whole.count).filter { $0 < 60 || $0 % 97 == 0 }.map { whole.prefix($0) }
        others.append(whole + [0])
        for offset in [0, 15, 16, 19, 24, 27, 31] {
            var changed = whole
            changed[offset] ^= 0xFF
            others.append(changed)
        }
        for other in others {
            try other.write(to: URL(fileURLWithPath: path))
            #expect(throws: StoreCopyError.isDamaged(code: 0)) { try PageFile.apply(path, to: copy) }
        }
    }
}
