import Foundation
import TestSupport
import Testing

@testable import CloudKit

/// What readers of a feed are told is there no more, by the pages that they have fetched.
struct FeedLedgerTests {
    /// The ledger of a feed, in a folder of its own.
    private struct Scene {
        let folder: TemporaryDirectory
        var bytesMax = 16 << 20

        init() throws { self.folder = try TemporaryDirectory() }

        var path: String { self.folder.path + "/ledger" }
        var bytes: Int { FileManager.default.contents(atPath: self.path)?.count ?? 0 }

        /// The ledger as another process opens it.
        var ledger: FeedLedger { FeedLedger(path: self.path, bytesMax: self.bytesMax) }
    }

    private func token(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A page; without `since` the first.
    private func page(
        _ told: [String] = [],
        deleted: [String] = [],
        since: String = "",
        next: String,
        more: Bool = false
    ) -> FeedLedger.Page {
        var page = FeedLedger.Page(token: self.token(since), next: self.token(next), moreComing: more)
        page.names = self.names(told, deleted: deleted)
        return page
    }

    private func names(_ told: [String], deleted: [String] = [], removed: [String] = []) -> LedgerNames {
        var names = LedgerNames()
        for name in told { names.report(name, type: "Note") }
        for name in deleted { names.add(name, as: .deleted) }
        for name in removed { names.add(name, as: .removed) }
        return names
    }

    /// Long names: 25,000 fill a file, so that it is rewritten.
    private func longNames(_ count: Int) -> [String] {
        (0..<count).map { "filler-\($0)-" + String(repeating: "x", count: 80) }
    }

    private func names(_ lost: [(name: String, type: String)]) -> [String] { lost.map(\.name) }

    @Test func `a reader whose token has expired gets the vanished records as deletions, with their types`()
        throws
    {
        let scene = try Scene()
        let ledger = scene.ledger
        var first = self.page(["a", "b", "c"], next: "1")
        first.names.report("p", type: "Photo")
        #expect(ledger.take(first).isEmpty)
        #expect(ledger.take(self.page(["d"], deleted: ["b"], since: "1", next: "2")).isEmpty)
        ledger.expired(self.token("2"))
        let lost = ledger.take(self.page(["a", "d"], next: "3"))
        #expect(lost.map { "\($0.name) \($0.type)" } == ["c Note", "p Photo"])
    }

    @Test func `a reader that begins without an expired token gets no such deletions`()
        throws
    {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a", "b"], next: "1"))
        #expect(scene.ledger.take(self.page(["a"], next: "2")).isEmpty)
        // What it did not hear of then is forgotten.
        scene.ledger.expired(self.token("2"))
        #expect(scene.ledger.take(self.page([], next: "3")).map(\.name) == ["a"])
    }

    @Test func `missing records are known with the last page, whichever process fetches each page`() throws {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a", "b", "c"], next: "1"))
        scene.ledger.expired(self.token("1"))
        #expect(scene.ledger.take(self.page(["a"], next: "2", more: true)).isEmpty)
        #expect(scene.ledger.take(self.page(["b"], since: "2", next: "3", more: true)).isEmpty)
        #expect(self.names(scene.ledger.take(self.page([], since: "3", next: "4"))) == ["c"])
        #expect(scene.ledger.take(self.page([], since: "4", next: "5")).isEmpty)
    }

    @Test func `a last page that is fetched again says it again`() throws {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a", "b"], next: "1"))
        scene.ledger.expired(self.token("1"))
        _ = scene.ledger.take(self.page(["a"], next: "2", more: true))
        for _ in 0..<2 {
            #expect(self.names(scene.ledger.take(self.page([], since: "2", next: "3"))) == ["b"])
        }
    }

    @Test func `a second reader gets the deletions too, and again only after its next token has expired`()
        throws
    {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a", "b"], next: "1"))
        _ = scene.ledger.take(self.page(["c"], since: "1", next: "2"))
        scene.ledger.expired(self.token("2"))
        #expect(self.names(scene.ledger.take(self.page(["a", "c"], next: "3"))) == ["b"])
        // It comes late, with a token of before.
        scene.ledger.expired(self.token("1"))
        #expect(self.names(scene.ledger.take(self.page(["a", "c"], next: "4"))) == ["b"])
        scene.ledger.expired(self.token("4"))
        #expect(self.names(scene.ledger.take(self.page(["a"], next: "5"))) == ["c"])
    }

    @Test func `what the feed said to a process that was killed is told again after its token has expired`()
        throws
    {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a", "b", "c"], next: "1"))
        _ = scene.ledger.take(self.page(deleted: ["b"], since: "1", next: "2"))
        // The page did not reach the app, which comes back with the token of before it.
        scene.ledger.expired(self.token("1"))
        #expect(self.names(scene.ledger.take(self.page(["a"], next: "3"))) == ["b", "c"])
        // One that knows of it is not told again.
        _ = scene.ledger.take(self.page(deleted: ["a"], since: "3", next: "4"))
        scene.ledger.expired(self.token("4"))
        #expect(scene.ledger.take(self.page([], next: "5")).isEmpty)
    }

    @Test(arguments: [true, false])
    func `a process that was told nothing learns what another one's run has found`(isEngine: Bool) throws {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a", "b"], next: "1"))
        // Another process begins without a token, and may be killed before its app hears of this.
        var anew = self.page(["a"], next: "2")
        anew.reportsAlways = isEngine
        _ = scene.ledger.take(anew)
        scene.ledger.expired(self.token("1"))
        #expect(self.names(scene.ledger.take(self.page(["a"], next: "3"))) == ["b"])
        // A reader that comes back from there knows it.
        scene.ledger.expired(self.token("3"))
        #expect(scene.ledger.take(self.page(["a"], next: "4")).isEmpty)
    }

    @Test func `a page that was asked for ahead says nothing of what the reader knows`() throws {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a", "b"], next: "1"))
        _ = scene.ledger.take(self.page(deleted: ["b"], since: "1", next: "2", more: true))
        var ahead = self.page(["c"], since: "2", next: "3")
        ahead.isReturn = false
        _ = scene.ledger.take(ahead)
        scene.ledger.expired(self.token("3"), isReturn: false)
        scene.ledger.expired(self.token("1"))
        #expect(self.names(scene.ledger.take(self.page(["a", "c"], next: "4"))) == ["b"])
    }

    @Test func `what another reader is told while one begins anew is not missing`() throws {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a"], next: "1"))
        scene.ledger.expired(self.token("1"))
        _ = scene.ledger.take(self.page([], next: "2", more: true))
        _ = scene.ledger.take(self.page(["a"], next: "x"))
        #expect(scene.ledger.take(self.page([], since: "2", next: "3")).isEmpty)
    }

    @Test func `a record that was saved here counts as read, if the feed is read`() throws {
        let scene = try Scene()
        scene.ledger.saved(self.names(["early"]))
        #expect(scene.bytes == 0)
        scene.ledger.saved(self.names(["gone"], removed: ["gone"]), isFollowed: true)
        #expect(scene.bytes > 0)
        _ = scene.ledger.take(self.page(["a"], next: "1"))
        scene.ledger.saved(self.names(["b", "c"], removed: ["a", "c"]))
        scene.ledger.expired(self.token("1"))
        #expect(self.names(scene.ledger.take(self.page([], next: "2"))) == ["b"])
    }

    @Test func `an engine that begins is told without an expired token`() throws {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a"], next: "1"))
        var anew = self.page([], next: "2")
        anew.reportsAlways = true
        #expect(self.names(scene.ledger.take(anew)) == ["a"])
        // Its process was killed before it could tell.
        #expect(self.names(scene.ledger.take(anew)) == ["a"])
    }

    @Test func `a page in which nothing happened writes nothing`() throws {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a"], next: "1"))
        let bytes = scene.bytes
        for _ in 0..<3 { _ = scene.ledger.take(self.page(since: "1", next: "1")) }
        #expect(scene.bytes == bytes)
    }

    // MARK: The file

    @Test func `an entry that a killed process has begun is cut off, wherever it ends`() throws {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a", "b"], next: "1"))
        let good = try #require(FileManager.default.contents(atPath: scene.path))
        _ = scene.ledger.take(self.page(["c"], since: "1", next: "2"))
        let whole = try #require(FileManager.default.contents(atPath: scene.path))
        for end in good.count..<whole.count {
            try whole.prefix(end).write(to: URL(fileURLWithPath: scene.path))
            let ledger = scene.ledger
            ledger.expired(self.token("1"))
            #expect(self.names(ledger.take(self.page(["a"], next: "3"))) == ["b"], "\(end)")
        }
    }

    @Test func `a damaged file is never misread`() throws {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a", "b"], next: "1"))
        let whole = try #require(FileManager.default.contents(atPath: scene.path))
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0x40
            try damaged.write(to: URL(fileURLWithPath: scene.path))
            let ledger = scene.ledger
            ledger.expired(self.token("1"))
            #expect(ledger.take(self.page([], next: "3")).isEmpty, "\(index)")
        }
    }

    @Test func `a page that was damaged since it was noted makes nothing vanish`() throws {
        let scene = try Scene()
        let ledger = scene.ledger
        _ = ledger.take(self.page(["a", "b"], next: "1"))
        ledger.expired(self.token("1"))
        _ = ledger.take(self.page(["a"], next: "2", more: true))
        let size = scene.bytes
        _ = ledger.take(self.page(["b"], since: "2", next: "3", more: true))
        var bytes = try #require(FileManager.default.contents(atPath: scene.path))
        bytes[size + 20] ^= 1
        try bytes.write(to: URL(fileURLWithPath: scene.path))
        #expect(ledger.take(self.page([], since: "3", next: "4")).isEmpty)
    }

    @Test func `a file that can't be written anew goes on`() throws {
        let scene = try Scene()
        try FileManager.default.createDirectory(
            atPath: scene.path + ".new",
            withIntermediateDirectories: false
        )
        let ledger = scene.ledger
        let names = self.longNames(500)
        _ = ledger.take(self.page(names, next: "0"))
        for number in 1..<80 { _ = ledger.take(self.page(names, since: "\(number - 1)", next: "\(number)")) }
        #expect(scene.bytes > 3 << 20)
        ledger.expired(self.token("79"))
        #expect(self.names(ledger.take(self.page(Array(names.dropLast()), next: "end"))) == [names[499]])
    }

    @Test func `a file that has grown is written anew, with what is still listed`() throws {
        let scene = try Scene()
        let names = (0..<500).map { "record-\($0)-" + String(repeating: "x", count: 80) }
        let ledger = scene.ledger
        _ = ledger.take(self.page(names, next: "0"))
        for number in 1..<200 {
            let since = "\(number - 1)"
            _ = ledger.take(self.page(names, since: since, next: "\(number)"))
        }
        #expect(scene.bytes < 5 << 19)
        // A run that is under way goes on in the new file.
        ledger.expired(self.token("199"))
        _ = ledger.take(self.page([names[0]], next: "run", more: true))
        for number in 0..<200 {
            _ = ledger.take(self.page(names, since: "other \(number)", next: "o\(number)"))
        }
        _ = ledger.take(self.page(deleted: [names[7]], since: "o199", next: "p"))
        _ = ledger.take(self.page(since: "p", next: "q"))
        #expect(scene.bytes < 5 << 19)
        #expect(scene.ledger.take(self.page([], since: "run", next: "end")).isEmpty)
        let lost = scene.ledger.take(self.page([names[1]], next: "again"))
        #expect(lost.count == 498 && !lost.contains { $0.name == names[7] || $0.name == names[1] })
        #expect(lost.allSatisfy { $0.type == "Note" })
    }

    @Test func `what a reader was told is still known after the file was written anew`() throws {
        let scene = try Scene()
        _ = scene.ledger.take(self.page(["a", "b"], next: "1"))
        scene.ledger.expired(self.token("1"))
        #expect(self.names(scene.ledger.take(self.page(["a"], next: "2"))) == ["b"])
        let filler = self.longNames(1_000)
        var since = "2"
        for number in 0..<20 {
            let next = "f\(number)"
            _ = scene.ledger.take(self.page(filler, since: since, next: next))
            _ = scene.ledger.take(self.page(deleted: filler, since: next, next: next + "x"))
            since = next + "x"
        }
        _ = scene.ledger.take(self.page(since: since, next: "last"))
        // A late reader gets it; the file has been rewritten.
        #expect(scene.bytes < 5 << 19)
        scene.ledger.expired(self.token("1"))
        #expect(self.names(scene.ledger.take(self.page(["a"], next: "3"))) == ["b"])
    }

    @Test func `too many names are none, until a reader begins again`() throws {
        var scene = try Scene()
        scene.bytesMax = 100_000
        let names = (0..<1_000).map { "a-name-of-some-length-\($0)" }
        var since = ""
        for number in 0..<10 {
            _ = scene.ledger.take(
                self.page(names.map { "\($0)-\(number)" }, since: since, next: "\(number)", more: true)
            )
            since = "\(number)"
        }
        #expect(scene.bytes < 100)
        scene.ledger.expired(self.token("9"))
        _ = scene.ledger.take(self.page(["a", "b"], next: "anew"))
        scene.ledger.expired(self.token("anew"))
        #expect(self.names(scene.ledger.take(self.page(["b"], next: "last"))) == ["a"])
    }

    @Test func `two processes share a file`() throws {
        let scene = try Scene()
        let (one, other) = (scene.ledger, scene.ledger)
        _ = one.take(self.page(["a"], next: "1"))
        _ = other.take(self.page(["b"], since: "1", next: "2"))
        _ = one.take(self.page(["c"], since: "2", next: "3"))
        other.expired(self.token("3"))
        #expect(self.names(one.take(self.page(["c"], next: "4"))) == ["a", "b"])
    }

    @Test func `a file that another process has written anew is read from its beginning`() throws {
        let scene = try Scene()
        let (one, other) = (scene.ledger, scene.ledger)
        _ = one.take(self.page(["a", "b"], next: "1"))
        let filler = self.longNames(500)
        for number in 0..<60 {
            _ = other.take(self.page(filler, since: "x\(number)", next: "x\(number + 1)"))
        }
        _ = other.take(self.page(deleted: filler, since: "x60", next: "y"))
        _ = other.take(self.page(since: "y", next: "z"))
        one.expired(self.token("1"))
        #expect(self.names(one.take(self.page(["a"], next: "2"))) == ["b"])
    }

    @Test func `threads that append at once lose nothing`() async throws {
        let scene = try Scene()
        _ = scene.ledger.take(self.page([], next: "0"))
        await withDiscardingTaskGroup { group in
            for writer in 0..<4 {
                group.addTask {
                    let ledger = scene.ledger
                    for number in 0..<50 {
                        _ = ledger.take(
                            self.page(["\(writer)-\(number)"], since: "0", next: "\(writer) \(number)")
                        )
                    }
                }
            }
        }
        scene.ledger.expired(self.token("0"))
        #expect(scene.ledger.take(self.page([], next: "end")).count == 200)
    }

    @Test func `without a writable folder nothing is kept, and no call fails`() {
        #expect(Ledgers(folder: "/dev/null/ledgers", bytesMax: 1 << 20, container: "c", address: "a") == nil)
        #expect(Ledgers(folder: NSTemporaryDirectory(), bytesMax: 0, container: "c", address: "a") == nil)
        let ledger = FeedLedger(path: "/dev/null/ledger", bytesMax: 1 << 20)
        #expect(ledger.take(self.page(["a"], next: "1")).isEmpty)
        ledger.expired(self.token("1"))
        ledger.saved(self.names(["a"]))
    }
}
