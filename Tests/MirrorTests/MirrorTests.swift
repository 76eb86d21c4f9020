import CloudKit
import CloudKitMirror
import CloudKitTesting
import Foundation
import GRDB
import TestSupport
import Testing

/// A mirror and its server, without conflicts.
@Suite(.timeLimit(.minutes(5)))
struct MirrorTests {
    @Test
    func `every type of column goes both ways, bit by bit`() async throws {
        try await MirrorDesk.run { desk in
            let mirror = try await desk.mirror()
            _ = try await python(
                desk.path("a"),
                """
                BEGIN;
                INSERT INTO Note (___recordName, title) VALUES ('parent', '√ "x" ''y''');
                INSERT INTO Note (___recordName, ___parent, title, pages, weight, due, data, secret, about)
                VALUES ('all', 'parent', '', -9223372036854775808, 0.1, 1700000000.25, x'00ff', 's', 'parent');
                COMMIT
                """
            )
            try await mirror.settle()
            let record = try await desk.database.record(for: desk.id("all"))
            #expect(record["title"] as String? == "")
            #expect(record["pages"] as Int64? == .min)
            #expect(record["weight"] as Double? == 0.1)
            #expect(record["due"] as Date? == Date(timeIntervalSince1970: 1_700_000_000.25))
            #expect(record["data"] as Data? == Data([0, 255]))
            #expect(record["secret"] as String? == nil)
            #expect(record.encryptedValues["secret"] as String? == "s")
            #expect(record.parent?.recordID == desk.id("parent"))
            #expect((record["about"] as CKRecord.Reference?)?.recordID == desk.id("parent"))

            let other = try await desk.mirror("b")
            try await other.settle()
            let query = "SELECT * FROM Note ORDER BY ___recordName"
            let rows = try await python(desk.path("a"), query)
            let values = "-9223372036854775808 0.1 1700000000.25 b'\\x00\\xff' s parent"
            #expect(rows.contains("all parent  \(values)"))
            #expect(try await python(desk.path("b"), query) == rows)
            await mirror.close()
            await other.close()
        }
    }

    @Test
    func `a change is pushed to a mirror that waits, and idle mirrors write nothing`() async throws {
        try await MirrorDesk.run { desk in
            let (mirror, other) = (try await desk.mirror(), try await desk.mirror("b"))
            try await mirror.settle()
            try await other.settle()
            let events = other.events()
            try await mirror.execute("INSERT INTO Note (___recordName, title) VALUES ('n', 'pushed')")
            for await event in events {
                if case .imported(_, let saved, _) = event, saved == 1 { break }
            }
            #expect(try await other.titles() == ["n": "pushed"])
            try await mirror.settle()
            try await other.settle()
            #expect(try await mirror.isCurrent())
            let before = try await Self.dataVersions(desk)
            try await Task.sleep(for: .milliseconds(500))
            #expect(try await Self.dataVersions(desk) == before)
            await mirror.close()
            await other.close()
        }
    }

    /// How often the files were written, as the headers and the logs say.
    private static func dataVersions(_ desk: MirrorDesk) async throws -> [Data] {
        try ["a", "b"].flatMap { name in
            try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: desk.path(name) + $0)) }
        }
    }

    @Test
    func `what was written while no process had the file is sent, and deletions too`() async throws {
        try await MirrorDesk.run { desk in
            let first = try await desk.mirror()
            try await first.execute("INSERT INTO Note (___recordName, title) VALUES ('old', 'x'), ('b', 'y')")
            try await first.settle()
            await first.close()
            _ = try await python(
                desk.path("a"),
                """
                INSERT INTO Note (___recordName, title) VALUES ('new', 'z'), ('brief', 'gone');
                DELETE FROM Note WHERE ___recordName IN ('old', 'brief');
                UPDATE Note SET title = 'tmp' WHERE ___recordName = 'b';
                UPDATE Note SET title = 'y' WHERE ___recordName = 'b'
                """
            )
            let tag = try await desk.database.record(for: desk.id("b")).recordChangeTag
            let second = try await desk.mirror()
            try await second.settle()
            #expect(try await desk.titles() == ["new": "z", "b": "y"])
            // It was set back, so that there was nothing to save.
            #expect(try await desk.database.record(for: desk.id("b")).recordChangeTag == tag)
            // One key deleted and inserted again is an update.
            _ = try await python(
                desk.path("a"),
                """
                DELETE FROM Note WHERE ___recordName = 'b';
                INSERT INTO Note (___recordName, title) VALUES ('b', 'again')
                """
            )
            try await second.settle()
            #expect(try await desk.titles() == ["new": "z", "b": "again"])
            #expect(try await second.status().conflicts == 0)
            await second.close()
        }
    }

    @Test
    func `a transaction of a thousand records comes parents first, in whatever order it was written`()
        async throws
    {
        try await MirrorDesk.run { desk in
            let mirror = try await desk.mirror()
            // A tree of which the leaves are written first.
            try await mirror.write { database in
                for number in (0..<1_000).reversed() {
                    try database.execute(
                        sql: "INSERT INTO Note (___recordName, title, ___parent) VALUES (?, 'x', ?)",
                        arguments: ["n\(number)", number == 0 ? nil : "n\((number - 1) / 4)"]
                    )
                }
            }
            try await mirror.settle()
            #expect(try await mirror.status().parked == 0)
            #expect(try await desk.titles().count == 1_000)
            try await mirror.execute("DELETE FROM Note")
            try await mirror.settle()
            #expect(try await mirror.status().parked == 0)
            #expect(try await desk.titles().isEmpty)
            await mirror.close()
        }
    }

    @Test
    func `a request that the server finds too large is sent in parts`() async throws {
        try await MirrorDesk.run { desk in
            let mirror = try await desk.mirror()
            try await mirror.settle()
            let blob = String(repeating: "x", count: 200_000)
            try await mirror.write { database in
                for number in 0..<30 {
                    try database.execute(
                        sql: "INSERT INTO Note (___recordName, title) VALUES (?, ?)",
                        arguments: ["n\(number)", blob]
                    )
                }
            }
            try await mirror.settle()
            #expect(try await mirror.status().parked == 0)
            #expect(try await desk.titles().count == 30)
            await mirror.close()
        }
    }

    @Test
    func `fields and types without a column stay, and a table that is added later is filled`() async throws {
        try await MirrorDesk.run { desk in
            let first = try await desk.mirror()
            try await first.settle()
            try await desk.save("n", ["title": "a", "color": "red"])
            let other = CKRecord(recordType: "Other", recordID: desk.id("o"))
            other["size"] = 3
            try await desk.database.save(other)
            try await first.settle()
            try await first.execute("UPDATE Note SET title = 'b'")
            try await first.settle()
            await first.close()
            let record = try await desk.database.record(for: desk.id("n"))
            #expect(record["color"] as String? == "red")
            #expect(record["title"] as String? == "b")

            let tables = [
                MirrorTable("Note", columns: [.init("color", .string)]),
                MirrorTable("Other", columns: [.init("size", .int64)]),
            ]
            let second = try await desk.mirror(tables: tables)
            try await second.settle()
            #expect(try await python(desk.path("a"), "SELECT title, color FROM Note") == "b red\n")
            #expect(try await python(desk.path("a"), "SELECT ___recordName, size FROM Other") == "o 3\n")
            await second.close()
        }
    }

    @Test
    func `after an expired token what did not come is deleted, and local work stays`() async throws {
        try await MirrorDesk.run { desk in
            let first = try await desk.mirror()
            try await first.execute(
                "INSERT INTO Note (___recordName, title) VALUES ('kept', '1'), ('gone', '2'), ('mine', '3')"
            )
            try await first.settle()
            await first.close()
            for name in ["gone", "mine"] { try await desk.database.deleteRecord(withID: desk.id(name)) }
            try await desk.save("new", ["title": "4"])
            _ = try await python(
                desk.path("a"),
                """
                UPDATE Note SET title = 'changed' WHERE ___recordName = 'mine';
                INSERT INTO Note (___recordName, title) VALUES ('added', '5')
                """
            )
            desk.server.faults.add(.fetchChanges(.next), .changeTokenExpired)
            let second = try await desk.mirror()
            try await second.settle()
            #expect(desk.server.faults.happened == 1)
            let titles = ["kept": "1", "mine": "changed", "new": "4", "added": "5"]
            #expect(try await second.titles() == titles)
            #expect(try await desk.titles() == titles)
            await second.close()
        }
    }

    @Test
    func `a busy server and a broken connection delay a change, and it takes effect once`() async throws {
        try await MirrorDesk.run { desk in
            let mirror = try await desk.mirror()
            try await mirror.settle()
            desk.server.faults.add(.save(.next), .zoneBusy(retryAfter: 0.1))
            desk.server.faults.add(.save(.second), .dropConnectionAfterCommit)
            try await mirror.execute("INSERT INTO Note (___recordName, title) VALUES ('n', 'x')")
            try await mirror.settle()
            #expect(desk.server.faults.happened == 2)
            #expect(try await desk.titles() == ["n": "x"])
            #expect(try await mirror.status().conflicts == 0)
            await mirror.close()
        }
    }

    @Test
    func `a table that is altered while a mirror runs stops it, and nothing is lost`() async throws {
        try await MirrorDesk.run { desk in
            let mirror = try await desk.mirror()
            try await mirror.settle()
            let events = mirror.events()
            _ = try await python(desk.path("a"), #"DROP TRIGGER "tidemark_Note.insert""#)
            var stopped: MirrorError?
            for await event in events {
                if case .stopped(let error) = event {
                    stopped = error
                    break
                }
            }
            let expected = MirrorError.tableAltered(
                table: "Note",
                detail: "the trigger tidemark_Note.insert is missing"
            )
            #expect(stopped == expected)
            #expect(try await mirror.status().stopped == expected)
            await #expect(throws: expected) { try await mirror.waitUntilCurrent(timeout: .seconds(1)) }
            await mirror.close()
        }
    }

    @Test
    func `another user does not get the file`() async throws {
        try await MirrorDesk.run { desk in
            let mirror = try await desk.mirror()
            try await mirror.execute("INSERT INTO Note (___recordName, title) VALUES ('n', 'alice')")
            try await mirror.settle()
            await mirror.close()
            let bob = try await Mirror(at: desk.path("a"), of: try await desk.server.container(for: "bob"))
            let expected = MirrorError.otherAccount(path: desk.path("a"))
            await #expect(throws: expected) { try await bob.waitUntilCurrent(timeout: .seconds(30)) }
            #expect(try await bob.titles() == ["n": "alice"])
            await bob.close()
            let alice = try await desk.mirror()
            try await alice.settle()
            #expect(try await alice.titles() == ["n": "alice"])
            await alice.close()
        }
    }
}
