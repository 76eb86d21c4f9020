import Foundation
import RecordModel
import RecordStore
import SQLiteEngine
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// The file of a store in a backup, and after a restore: SQLite's own, since an engine brings its
/// own way to copy what it keeps.
@Suite(.timeLimit(.minutes(10)))
struct RestoreTests {
    private static func engine() async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        _ = try await it.modify([save("n1"), save("n2")])
        return it
    }

    /// The folder of a copy that is a backup.
    private static func backup(of it: EngineUnderTest) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        let store = try StoreFile(in: it.folder.path)
        let size = try store.size().database
        var bytes: Int64 = 0
        try store.copy(to: StoreFile.path(in: folder.path)) { bytes += Int64($0) }.close()
        #expect(bytes >= size)
        return folder
    }

    private static func folder(restored backup: TemporaryDirectory) throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        try FileManager.default.copyItem(
            atPath: StoreFile.path(in: backup.path),
            toPath: StoreFile.path(in: folder.path)
        )
        let copy = try DatabaseCopy(ofBackup: StoreFile.path(in: folder.path))
        try copy.beginNewLife(nowMilliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
        try copy.close()
        return folder
    }

    private static func restored(_ backup: TemporaryDirectory) throws -> EngineUnderTest {
        try EngineUnderTest(.sqlite, openingFilesIn: self.folder(restored: backup))
    }

    @Test
    func `tokens of before a restore have expired, however far the restored store has gone`() async throws {
        let it = try await Self.engine()
        let old = try await it.all().token
        let oldOfDatabase = try await it.token(of: nil)
        let backup = try Self.backup(of: it)
        for number in 0..<20 { _ = try await it.modify([save("lost \(number)")]) }
        let lost = try await it.all(after: old).token
        let lostOfDatabase = try await it.token(of: nil)
        let it2 = try Self.restored(backup)
        for round in 0..<2 {
            for token in [old, lost] {
                await #expect(throws: StoreError.changeTokenExpired) { try await it2.all(after: token) }
            }
            for token in [oldOfDatabase, lostOfDatabase] {
                await #expect(throws: StoreError.changeTokenExpired) {
                    try await it2.databaseChanges(DatabaseFeedRead(token: token, limit: 10))
                }
            }
            for number in 0..<40 { _ = try await it2.modify([save("\(round) \(number)")]) }
        }
        let all = try await it2.all(limit: 7)
        #expect(all.items.count == 82)
        _ = try await it2.modify([save("after")])
        #expect(try await it2.all(after: all.token).items == ["after"])
        #expect(try await it2.wrongCounters() == [])
    }

    @Test
    func `each restore of a backup, and of a restored store, is a life of its own`() async throws {
        let backup = try Self.backup(of: try await Self.engine())
        var tokens: [[UInt8]] = []
        var engines: [EngineUnderTest] = []
        for _ in 0..<3 {
            let it = try Self.restored(backup)
            engines.append(it)
            tokens.append(try await it.all().token)
        }
        let again = try Self.restored(try Self.backup(of: engines[0]))
        engines.append(again)
        tokens.append(try await again.all().token)
        for (index, it) in engines.enumerated() {
            for (other, token) in tokens.enumerated() where other != index {
                await #expect(throws: StoreError.changeTokenExpired) { try await it.all(after: token) }
            }
            #expect(try await it.all(after: tokens[index]).items == [])
        }
    }

    @Test
    func `a database that begins after a restore is not the one that a restore took back`() async throws {
        let it = try await Self.engine()
        let backup = try Self.backup(of: it)
        let it2 = try Self.restored(backup)
        var found: [(token: [UInt8], tag: String, database: DatabaseID)] = []
        for engine in [it, it2] {
            let directory = engine.store.directory
            try directory.addUser(
                named: "carol",
                userRecordName: "_00000000000000000000000000000ca7",
                tokenHash: EngineUnderTest.token(of: "carol"),
                toContainer: EngineUnderTest.container
            )
            let signIn = try directory.signIn(
                container: EngineUnderTest.container,
                environment: .development,
                tokenHash: EngineUnderTest.token(of: "carol")
            )
            let carol = Requester(
                database: try #require(signIn.privateDatabase),
                scope: .private,
                environment: signIn.environment,
                userRecordName: signIn.userRecordName
            )
            _ = try await engine.modify([save("c", in: .default)], by: carol)
            if let lost = found.first {
                #expect(lost.database == carol.database, "otherwise this shows nothing")
                for _ in 0..<5 {
                    await #expect(throws: StoreError.changeTokenExpired) {
                        try await engine.all(after: lost.token, of: .default, by: carol)
                    }
                    let outcome = try await engine.modify(
                        [save("c", in: .default, tag: lost.tag)],
                        by: carol
                    )[0]
                    guard case .changeTagStale = outcome.error else {
                        Issue.record("\(outcome)")
                        return
                    }
                    _ = try await engine.modify([save("c", in: .default)], policy: .changedKeys, by: carol)
                }
            }
            let tag = try #require(try await engine.record(id("c", in: .default), by: carol)?.changeTag)
            found.append((try await engine.all(of: .default, by: carol).token, tag, carol.database))
        }
    }

    @Test
    func `no change tag of before a restore is that of a later change`() async throws {
        let it = try await Self.engine()
        let backup = try Self.backup(of: it)
        var lost: [String] = []
        for _ in 0..<30 {
            _ = try await it.modify([save("n1")], policy: .changedKeys)
            lost.append(try #require(try await it.record(id("n1"))?.changeTag))
        }
        let it2 = try Self.restored(backup)
        let kept = try #require(try await it2.record(id("n1"))?.changeTag)
        #expect(!lost.contains(kept))
        for _ in 0..<60 {
            _ = try await it2.modify([save("n1")], policy: .changedKeys)
            let tag = try #require(try await it2.record(id("n1"))?.changeTag)
            #expect(!lost.contains(tag))
        }
    }

    @Test
    func `after a restore each subscription has news, for everybody, until it is acknowledged`()
        async throws
    {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        _ = try await it.modifyZones([], deletes: ["notes"], by: it.bobPrivately)
        let all = [
            zoneSubscription("1 zone"), query("2 query", in: notes), query("3 default", in: .default),
            query("4 everywhere"), databaseSubscription("5 database"),
        ]
        _ = try await it.modifySubscriptions(all)
        _ = try await it.modify([save("n1")])
        // A database without a zone but its default one: nothing was ever changed where this one looks.
        let alone = databaseSubscription("alone")
        _ = try await it.modifySubscriptions([alone], by: it.bobPrivately)
        try await it.acknowledgeAll()
        // What was acknowledged is written with the next commit.
        _ = try await it.modify([save("n2", in: .default)])
        try await it.acknowledgeAll()
        let before = try await it.reopened()
        #expect(try await before.news() == [])
        let it2 = try Self.restored(try Self.backup(of: before))
        for installation: UInt8 in [1, 2] {
            #expect(try await it2.news(for: installation) == all.map(\.id))
            try await it2.acknowledgeAll(by: installation)
            #expect(try await it2.news(for: installation) == [])
        }
        let bob = it2.listener(3, signIn: it2.bobSignIn)
        #expect(try await it2.startWatching(bob).subscriptions.map(\.hasChanges) == [true])
        _ = try await it2.modifySubscriptions(all)
        let it3 = try await it2.reopened()
        #expect(try await it3.news() == [])
        _ = try await it3.modify([save("n3")])
        #expect(
            try await it3.news() == ["1 zone", "2 query", "4 everywhere", "5 database"]
        )
    }

    @Test
    func `a request of before the backup is a replay, one of after it takes effect`() async throws {
        let it = try await Self.engine()
        let (first, second) = (it.newRequestID(), it.newRequestID())
        let outcomes = try await it.modify([save("first")], id: first)
        let backup = try Self.backup(of: it)
        _ = try await it.modify([save("second")], id: second)
        let it2 = try Self.restored(backup)
        #expect(try await it2.modify([save("first")], id: first) == outcomes)
        #expect(try await it2.modify([save("second")], id: second)[0].error == nil)
        #expect(try await it2.all().items == ["n1", "n2", "first", "second"])
    }

    @Test
    func `a copy that is made while others write is the store at one moment`() async throws {
        let it = try await Self.engine()
        let payload: [UInt8] = Array(repeating: 1, count: 4_000)
        var acknowledged = 0
        let writing = Task {
            var number = 0
            while !Task.isCancelled {
                number += 1
                let saves = ["left", "right"].map { save($0 + " \(number)", ["data": .bytes(payload)]) }
                _ = try await it.modify(saves)
            }
            return number
        }
        while acknowledged < 60 {
            acknowledged = try await it.all().items.count
        }
        for _ in 0..<3 {
            let before = Set(try await it.all().items)
            let it2 = try Self.restored(try Self.backup(of: it))
            let items = try await it2.all().items
            #expect(before.isSubset(of: items))
            let left = items.filter { $0.hasPrefix("left") }.map { $0.dropFirst(5) }
            let right = items.filter { $0.hasPrefix("right") }.map { $0.dropFirst(6) }
            #expect(left == right)
            #expect(left.map { Int($0) } == (1...left.count).map { $0 })
            #expect(try await it2.wrongCounters() == [])
        }
        writing.cancel()
        #expect(try await writing.value > 30)
    }

    @Test
    func `nobody serves a backup, and only a backup is restored`() async throws {
        let it = try await Self.engine()
        let backup = try Self.backup(of: it)
        #expect(throws: SQLiteEngineError.isBackup(path: StoreFile.path(in: backup.path))) {
            _ = try EngineKind.sqlite.open(in: backup.path, clock: it.clock)
        }
        #expect(throws: StoreCopyError.isBackup) { _ = try StoreFile(in: backup.path) }
        #expect(throws: StoreCopyError.isMissing) { _ = try StoreFile(in: backup.path + "/none") }
        await it.store.shutdown()
        #expect(throws: StoreCopyError.isNoBackup) {
            _ = try DatabaseCopy(ofBackup: StoreFile.path(in: it.folder.path))
        }
        let empty = backup.path + "/empty"
        #expect(FileManager.default.createFile(atPath: empty, contents: Data()))
        #expect(throws: StoreCopyError.isNoBackup) { _ = try DatabaseCopy(ofBackup: empty) }
    }

    @Test
    func `an asset without a file is forgotten, unless a record names it`() async throws {
        let it = try await Self.engine()
        let numbers = try await it.upload(file(1), file(2))
        _ = try await it.modify([save("with", ["file": .asset(file(1))])])
        let backup = try Self.backup(of: it)
        let copy = try DatabaseCopy(ofBackup: StoreFile.path(in: backup.path))
        #expect(try copy.assetTotals() == (2, 200))
        #expect(try copy.assets(after: nil, limit: 1).map(\.number) == [numbers[0]])
        #expect(try copy.forgetUnnamed(numbers[0]) == false)
        #expect(try copy.forgetUnnamed(numbers[1]))
        #expect(try copy.forgetUnnamed(numbers[1]) == false)
        #expect(try copy.has(numbers[0]) && !copy.has(numbers[1]))
        try copy.close()
        let it2 = try Self.restored(backup)
        #expect(try await it2.wrongCounters() == [])
        #expect(try await it2.wrongUses() == [])
        // A client that has its bytes sends them again.
        #expect(try await it2.begin([file(1), file(2)]).map { $0.number == nil } == [true, false])
        #expect(try await it2.removals() == [numbers[1]])
    }

    @Test
    func `what a participant had sent and not named is to be sent again after a restore`() async throws {
        let it = try await Self.engine()
        let share = try await it.share("n1")
        try await it.join(share, by: it.bobShared)
        let number = try #require(try await it.upload(file(1), by: it.bobShared).first)
        #expect(try await it.begin([file(1)], by: it.bobShared) == [.complete])
        let it2 = try Self.restored(try Self.backup(of: it))
        let new = sharedSave("new", ["file": .asset(file(1))], parent: .set(recordName: "n1"))
        #expect(
            try await it2.modify([new], by: it2.bobShared) == [.failed(.assetNotAvailable(field: "file"))]
        )
        #expect(try await it2.begin([file(1)], by: it2.bobShared) == [.incomplete(number)])
        try await it2.complete(number)
        #expect(try await it2.modify([new], by: it2.bobShared).areSaved)
        let wrong = try await it2.wrongCounters()
        #expect(wrong == [])
    }
}
