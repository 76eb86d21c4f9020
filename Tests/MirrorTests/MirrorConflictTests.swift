import CloudKit
import CloudKitMirror
import CloudKitTesting
import Foundation
import GRDB
import TestSupport
import Testing

/// A record that was changed in a file and on the server, and changes that the server refuses.
@Suite(.timeLimit(.minutes(5)))
struct MirrorConflictTests {
    private static let conflicts =
        "SELECT name, \"column\", ancestor, mine, theirs, winner FROM tidemark_conflict ORDER BY id"

    /// A note with the title 'old' and one page, changed by SQL and by the other device while no
    /// process had the file.
    private func conflict(
        _ policy: MirrorConflictPolicy,
        isLocalNewer: Bool,
        _ sql: String,
        elsewhere: (MirrorDesk) async throws -> Void,
        check: (MirrorDesk, Mirror) async throws -> Void
    ) async throws {
        try await MirrorDesk.run { desk in
            let first = try await desk.mirror()
            try await first.execute("INSERT INTO Note (___recordName, title, pages) VALUES ('n', 'old', 1)")
            try await first.settle()
            await first.close()
            if isLocalNewer {
                try await elsewhere(desk)
                try await Task.sleep(for: .milliseconds(20))
            }
            _ = try await python(desk.path("a"), sql)
            if !isLocalNewer {
                try await Task.sleep(for: .milliseconds(20))
                try await elsewhere(desk)
            }
            let second = try await desk.mirror(conflicts: policy)
            try await second.settle()
            let other = try await desk.mirror("b")
            try await other.settle()
            let (mine, others) = (try await second.titles(), try await other.titles())
            let titles = try await desk.titles()
            #expect(mine == titles && others == titles)
            try await check(desk, second)
            await second.close()
            await other.close()
        }
    }

    @Test(
        arguments: [
            (MirrorConflictPolicy.fieldwise, true, "mine"), (.fieldwise, false, "theirs"),
            (.server, true, "theirs"), (.server, false, "theirs"), (.client, true, "mine"),
            (.client, false, "mine"),
        ]
    )
    func `one column has a winner, the other is merged, and what lost is kept`(
        _ policy: MirrorConflictPolicy,
        _ isLocalNewer: Bool,
        _ winner: String
    ) async throws {
        try await self.conflict(
            policy,
            isLocalNewer: isLocalNewer,
            "UPDATE Note SET title = 'mine', weight = 0.5",
            elsewhere: { try await $0.save("n", ["title": "theirs", "pages": 2]) },
            check: { desk, mirror in
                let row = try await python(desk.path("a"), "SELECT title, pages, weight FROM Note")
                #expect(row == "\(winner) 2 0.5\n")
                let conflicts = try await python(desk.path("a"), Self.conflicts)
                #expect(conflicts == "n title old mine theirs \(winner)\n")
                #expect(try await mirror.status().conflicts == 1)
            }
        )
    }

    @Test(arguments: MirrorConflictPolicy.allCases)
    func `a change and the server's deletion`(_ policy: MirrorConflictPolicy) async throws {
        try await self.conflict(
            policy,
            isLocalNewer: true,
            "UPDATE Note SET title = 'mine'",
            elsewhere: { try await $0.database.deleteRecord(withID: $0.id("n")) },
            check: { desk, _ in
                #expect(try await desk.titles() == (policy == .client ? ["n": "mine"] : [:]))
                let winner = policy == .client ? "mine" : "theirs"
                let conflicts = try await python(desk.path("a"), Self.conflicts)
                let ancestor = #"{"title":"old","pages":1} {"title":"mine","pages":1}"#
                #expect(conflicts == "n None \(ancestor) None \(winner)\n")
            }
        )
    }

    @Test(arguments: MirrorConflictPolicy.allCases)
    func `a deletion and the server's change`(_ policy: MirrorConflictPolicy) async throws {
        try await self.conflict(
            policy,
            isLocalNewer: false,
            "DELETE FROM Note",
            elsewhere: { try await $0.save("n", ["title": "theirs"]) },
            check: { desk, _ in
                #expect(try await desk.titles() == (policy == .server ? ["n": "theirs"] : [:]))
                let winner = policy == .server ? "theirs" : "mine"
                let conflicts = try await python(desk.path("a"), Self.conflicts)
                let ancestor = #"{"title":"old","pages":1} None {"title":"theirs","pages":1}"#
                #expect(conflicts == "n None \(ancestor) \(winner)\n")
            }
        )
    }

    @Test
    func `two insertions of one name are merged`() async throws {
        try await self.conflict(
            .fieldwise,
            isLocalNewer: true,
            "INSERT INTO Note (___recordName, title, pages) VALUES ('m', 'mine', 7)",
            elsewhere: { try await $0.save("m", ["title": "theirs", "weight": 2.5]) },
            check: { desk, _ in
                let row = "SELECT title, pages, weight FROM Note WHERE ___recordName = 'm'"
                #expect(try await python(desk.path("a"), row) == "mine 7 2.5\n")
                let conflicts = try await python(desk.path("a"), Self.conflicts)
                #expect(conflicts == "m title None mine theirs mine\n")
            }
        )
    }

    /// The process was killed after the server had executed its request, and before the response.
    @Test
    func `a value of an unknown fate is no conflict, and what was written after it is sent`() async throws {
        try await self.conflict(
            .server,
            isLocalNewer: true,
            """
            UPDATE Note SET title = 'later';
            INSERT INTO tidemark_sent SELECT number, 'n', 'title', 'sent' FROM tidemark_zone
            """,
            elsewhere: { try await $0.save("n", ["title": "sent"]) },
            check: { desk, mirror in
                let titles = try await desk.titles()
                #expect(titles == ["n": "later"])
                #expect(try await mirror.status().conflicts == 0)
            }
        )
    }

    /// The process was killed after the server had executed its deletion; the record is another one.
    @Test
    func `a deletion of an unknown fate does not delete what was created since`() async throws {
        try await self.conflict(
            .client,
            isLocalNewer: true,
            "DELETE FROM Note; INSERT INTO tidemark_sent SELECT number, 'n', '', NULL FROM tidemark_zone",
            elsewhere: {
                try await $0.database.deleteRecord(withID: $0.id("n"))
                try await Task.sleep(for: .milliseconds(5))
                try await $0.save("n", ["title": "another"])
            },
            check: { desk, mirror in
                let titles = try await desk.titles()
                #expect(titles == ["n": "another"])
                #expect(try await mirror.status().conflicts == 0)
            }
        )
    }

    /// Waits until the server has every local change; nothing is fetched for that.
    private func sent(_ mirror: Mirror) async throws {
        while try await mirror.status().pending > 0 { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// A deletion has no change tag: only a look at the record finds the change.
    @Test
    func `a deletion does not overrule a change that was not fetched yet without a trace`() async throws {
        try await MirrorDesk.run { desk in
            let mirror = try await desk.mirror()
            try await mirror.execute("INSERT INTO Note (___recordName, title, pages) VALUES ('n', 'old', 1)")
            try await mirror.settle()
            desk.server.faults.add(.fetchChanges(.next), .zoneBusy(retryAfter: 60))
            try await desk.save("n", ["title": "theirs"])
            while desk.server.faults.happened == 0 { try await Task.sleep(for: .milliseconds(20)) }
            try await mirror.execute("DELETE FROM Note")
            try await self.sent(mirror)
            #expect(try await desk.titles() == [:])
            let overruled = #"{"title":"old","pages":1} None {"title":"theirs","pages":1} mine"#
            #expect(try await python(desk.path("a"), Self.conflicts) == "n None \(overruled)\n")
            await mirror.close()
        }
    }

    @Test
    func `a record that is deleted elsewhere just after it was saved from here is kept`() async throws {
        try await MirrorDesk.run { desk in
            let mirror = try await desk.mirror()
            try await mirror.execute("INSERT INTO Note (___recordName, title) VALUES ('n', 'old')")
            try await mirror.settle()
            try await mirror.execute("UPDATE Note SET title = 'mine'")
            try await self.sent(mirror)
            try await desk.database.deleteRecord(withID: desk.id("n"))
            while try await !mirror.titles().isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            let overruled = #"{"title":"mine"} {"title":"mine"} None theirs"#
            #expect(try await python(desk.path("a"), Self.conflicts) == "n None \(overruled)\n")

            // One that was seen by a fetch since is not.
            try await mirror.execute("INSERT INTO Note (___recordName, title) VALUES ('m', 'seen')")
            try await mirror.settle()
            try await desk.database.deleteRecord(withID: desk.id("m"))
            try await mirror.settle()
            #expect(try await mirror.titles() == [:])
            #expect(try await mirror.status().conflicts == 1)
            await mirror.close()
        }
    }

    @Test
    func `a refused change is parked, and everything else goes on`() async throws {
        try await MirrorDesk.run { desk in
            let mirror = try await desk.mirror()
            try await mirror.settle()
            try await mirror.write { database in
                try database.execute(sql: "INSERT INTO Note (___recordName, title) VALUES ('good', 'x')")
                // No record has this name.
                try database.execute(
                    sql: "INSERT INTO Note (___recordName, title, ___parent) VALUES ('bad', 'y', 'nowhere')"
                )
            }
            try await mirror.execute("INSERT INTO Note (___recordName, title) VALUES ('later', 'z')")
            try await mirror.settle()
            #expect(try await desk.titles() == ["good": "x", "later": "z"])
            var status = try await mirror.status()
            #expect(status.parked == 1 && status.pending == 0)
            let parked = "SELECT name, error_code FROM tidemark_pending"
            #expect(try await python(desk.path("a"), parked) == "bad 31\n")

            // A correction sends it.
            try await mirror.execute("UPDATE Note SET ___parent = 'good' WHERE ___recordName = 'bad'")
            try await mirror.settle()
            #expect(try await desk.titles() == ["good": "x", "later": "z", "bad": "y"])

            try await mirror.execute("UPDATE Note SET ___parent = 'missing' WHERE ___recordName = 'bad'")
            try await mirror.settle()
            #expect(try await mirror.status().parked == 1)
            try await desk.save("missing", ["title": "found"])
            try await mirror.retryParked()
            try await mirror.settle()
            #expect(try await mirror.status().parked == 0)

            try await mirror.execute("UPDATE Note SET title = 'no', ___parent = 'nowhere' WHERE title = 'y'")
            try await mirror.settle()
            status = try await mirror.status()
            #expect(status.parked == 1)
            #expect(try await mirror.discardParked() == 1)
            let row = "SELECT title, ___parent FROM Note WHERE ___recordName = 'bad'"
            #expect(try await python(desk.path("a"), row) == "y missing\n")
            #expect(try await mirror.isCurrent())
            await mirror.close()
        }
    }

    @Test
    func `a zone that was deleted elsewhere is emptied, and created again for what is inserted`()
        async throws
    {
        try await MirrorDesk.run { desk in
            let mirror = try await desk.mirror()
            try await mirror.execute("INSERT INTO Note (___recordName, title) VALUES ('n', 'x'), ('m', 'y')")
            try await mirror.settle()
            try await desk.database.deleteRecordZone(withID: MirrorDesk.zone)
            try await mirror.settle()
            #expect(try await mirror.titles() == [:])
            try await mirror.execute("INSERT INTO Note (___recordName, title) VALUES ('new', 'z')")
            try await mirror.settle()
            #expect(try await desk.titles() == ["new": "z"])
            #expect(try await mirror.titles() == ["new": "z"])
            await mirror.close()
        }
    }
}
