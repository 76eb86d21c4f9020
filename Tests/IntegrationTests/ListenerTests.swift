import CloudKit
import CloudKitTesting
import Foundation
import TestSupport
import Testing

/// What `tidemark-listen` hears and does, against the real server.
@Suite(.timeLimit(.minutes(10)))
struct ListenerTests {
    @Test
    func `a change of a zone is a line of JSON, with the time since its commit`() async throws {
        try await Desk.run { desk in
            let listener = try await ListenerProcess.start(
                desk,
                in: TemporaryDirectory(),
                "--zone",
                "desk",
                "--json"
            )
            try await listener.says("subscribed")
            try await desk.database.save(desk.record("note"))
            let line = try #require(try await listener.lines(1).first)
            #expect(line.json("notification") == "zone")
            #expect(line.json("zone") == "desk")
            #expect(line.json("database") == "private")
            #expect(line.json("container") == TestServer.defaultContainerIdentifier)
            #expect(line.json("subscription")?.hasPrefix("tidemark-listen-zone-") == true)
            let latency = try #require(line.json("latencyMilliseconds").flatMap { Int($0) })
            #expect((0..<30_000).contains(latency))
            #expect(await listener.stop().lines.count == 1)
        }
    }

    @Test
    func `a query tells of records that meet it, and of no others`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(desk.record("thin", ["pages": 1]))
            let listener = try await ListenerProcess.start(
                desk,
                in: TemporaryDirectory(),
                "--query",
                "Note",
                "pages > 10",
                "--zone",
                "desk"
            )
            try await listener.says("subscribed")
            try await desk.database.save(desk.record("thinner", ["pages": 0]))
            try await desk.database.save(desk.record("thick", ["pages": 11]))
            try await desk.database.deleteRecord(withID: desk.id("thin"))
            try await desk.database.deleteRecord(withID: desk.id("thick"))
            let lines = try await listener.lines(2)
            #expect(lines.count == 2)
            #expect(lines[0].contains("record thick in desk created (private)"), "\(lines)")
            #expect(lines[1].contains("record thick in desk deleted (private)"), "\(lines)")
        }
    }

    @Test
    func `a command gets each notification on its input, one at a time, and its failure is told`()
        async throws
    {
        try await Desk.run { desk in
            let folder = try TemporaryDirectory()
            let log = folder.path + "/log"
            let listener = try await ListenerProcess.start(
                desk,
                in: folder,
                "--query",
                "Note",
                "--exec",
                "echo begin >>\(log); sleep 0.2; cat >>\(log); echo end >>\(log); exit 3"
            )
            try await listener.says("subscribed")
            for number in 1...3 { try await desk.database.save(desk.record("n\(number)")) }
            try await listener.says("the command ended with exit code 3", times: 3)
            let outcome = await listener.stop()
            #expect(outcome.exitCode == 0 && outcome.lines.count == 3)
            let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(
                String.init
            )
            #expect(lines.count == 9)
            for number in 0..<3 {
                #expect(lines[number * 3] == "begin" && lines[number * 3 + 2] == "end")
                #expect(lines[number * 3 + 1].json("record") == "n\(number + 1)")
            }
        }
    }

    @Test
    func `a command that fails ends it if that is asked for, and its notification comes again`() async throws
    {
        try await Desk.run { desk in
            let folder = try TemporaryDirectory()
            let arguments = ["--zone", "desk", "--stop-on-failure", "--exec"]
            let variables = try await ListenerProcess.variables(of: "alice", at: desk, in: folder)
            let first = try ListenerProcess.start(variables, in: folder, arguments + ["exit 3"])
            try await first.says("subscribed")
            try await desk.database.save(desk.record("note"))
            let outcome = await first.process.outcome()
            #expect(outcome.exitCode == 70)
            #expect(outcome.errors.hasSuffix("the command ended with exit code 3\n"), "\(outcome.errors)")
            let second = try ListenerProcess.start(variables, in: folder, arguments + ["exit 0"])
            #expect(try await second.lines(1)[0].contains("zone desk changed (private)"))
            #expect(await second.stop().exitCode == 0)
        }
    }

    @Test
    func `what a command had not ended with when the listener was stopped is told again`() async throws {
        try await Desk.run { desk in
            let folder = try TemporaryDirectory()
            let first = try await ListenerProcess.start(
                desk,
                in: folder,
                "--zone",
                "desk",
                "--exec",
                "echo at work >&2; sleep 3600"
            )
            try await first.says("subscribed")
            try await desk.database.save(desk.record("note"))
            try await first.says("at work")
            // It ends the command, whose end nobody could wait for.
            #expect(await first.stop().exitCode == 0)

            let second = try await ListenerProcess.start(desk, in: folder, "--zone", "desk")
            #expect(
                try await second.lines(1)[0].contains("zone desk changed (private), while nobody listened")
            )
            _ = await second.stop()
            let third = try await ListenerProcess.start(desk, in: folder, "--zone", "desk")
            try await third.says("listening")
            try await desk.database.save(desk.record("another"))
            // Stopped at once, the second may not have got its acknowledgement through.
            let isToldAgain = try await third.lines(1)[0].contains("while nobody listened")
            let last = isToldAgain ? try await third.lines(2)[1] : try await third.lines(1)[0]
            #expect(last.contains("ms after the commit"))
        }
    }

    @Test
    func `it fetches exactly what it was told of`() async throws {
        try await Desk.run { desk in
            for number in 1...20 { try await desk.database.save(desk.record("n\(number)")) }
            let listener = try await ListenerProcess.start(
                desk,
                in: TemporaryDirectory(),
                "--database",
                "--fetch",
                "--from-now"
            )
            try await listener.says("caught up")
            let changed = try await desk.database.record(for: desk.id("n7"))
            changed["text"] = "seven"
            try await desk.database.save(changed)
            let lines = try await listener.lines(3)
            #expect(lines[0].contains("database changed (private)"))
            #expect(lines[1...] == ["  zone desk has changes", #"  saved Note n7 in desk text="seven""#])
        }
    }

    @Test
    func `it goes on after a restart of the server, with what happened meanwhile as news`() async throws {
        try await Desk.run { desk in
            let listener = try await ListenerProcess.start(
                desk,
                in: TemporaryDirectory(),
                "--zone",
                "desk",
                "--json"
            )
            try await listener.says(": listening")
            try await desk.server.restart()
            try await listener.says("reconnecting in")
            try await listener.says(": listening", times: 2)
            try await desk.database.save(desk.record("note"))
            let line = try #require(try await listener.lines(1).first)
            #expect(line.json("zone") == "desk")
        }
    }

    @Test
    func `it tells what it was asked for, and of no other subscription of the user`() async throws {
        try await Desk.run { desk in
            for own in [["--database"], ["--query", "Note"]] {
                let ownFolder = try TemporaryDirectory()
                let earlier = try ListenerProcess.start(
                    await ListenerProcess.variables(of: "alice", at: desk, in: ownFolder),
                    in: ownFolder,
                    own
                )
                try await earlier.says("subscribed")
                _ = await earlier.stop()
            }
            let folder = try TemporaryDirectory()
            let log = folder.path + "/log"
            let listener = try await ListenerProcess.start(
                desk,
                in: folder,
                "--zone",
                "desk",
                "--exec",
                "cat >>\(log)"
            )
            try await listener.says(": listening")
            for number in 1...5 {
                try await desk.database.save(desk.record("n\(number)"))
                _ = try await listener.lines(number)
            }
            let outcome = await listener.stop()
            #expect(outcome.lines.count == 5)
            #expect(outcome.lines.allSatisfy { $0.contains("zone desk changed") }, "\(outcome.lines)")
            let runs = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            #expect(runs.count == 5 || runs.count == 4)
        }
    }

    @Test
    func `what one wish has taken care of is still news to another`() async throws {
        try await Desk.run { desk in
            let other = try await desk.database.save(CKRecordZone(zoneName: "other")).zoneID
            let folder = try TemporaryDirectory()
            for zone in ["desk", "other"] {
                let listener = try await ListenerProcess.start(desk, in: folder, "--zone", zone)
                try await listener.says(": listening")
                _ = await listener.stop()
            }
            let first = try await ListenerProcess.start(desk, in: folder, "--zone", "desk")
            try await first.says(": listening")
            let id = CKRecord.ID(recordName: "elsewhere", zoneID: other)
            try await desk.database.save(CKRecord(recordType: "Note", recordID: id))
            try await desk.database.save(desk.record("note"))
            #expect(try await first.lines(1)[0].contains("zone desk changed"))
            #expect(await first.stop().lines.count == 1)
            let second = try await ListenerProcess.start(desk, in: folder, "--zone", "other")
            #expect(
                try await second.lines(1)[0].contains("zone other changed (private), while nobody listened")
            )
            _ = await second.stop()
        }
    }

    @Test
    func `it forgets its subscriptions, those of one wish or all`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(CKRecordZone(zoneName: "other"))
            try await desk.database.save(
                CKRecordZoneSubscription(zoneID: desk.zone, subscriptionID: "of the app")
            )
            for wish in [["--database"], ["--zone", "other"]] {
                let folder = try TemporaryDirectory()
                let listener = try ListenerProcess.start(
                    await ListenerProcess.variables(of: "alice", at: desk, in: folder),
                    in: folder,
                    wish
                )
                try await listener.says("subscribed")
                _ = await listener.stop()
            }
            func forget(_ wish: String...) async throws -> [String] {
                let folder = try TemporaryDirectory()
                let listener = try ListenerProcess.start(
                    await ListenerProcess.variables(of: "alice", at: desk, in: folder),
                    in: folder,
                    ["--forget"] + wish
                )
                let outcome = await listener.process.outcome()
                #expect(outcome.exitCode == 0 && outcome.output.isEmpty)
                return try await desk.database.allSubscriptions().map(\.subscriptionID)
            }
            #expect(try await forget("--zone", "desk").count == 3)
            let left = try await forget("--zone", "other")
            #expect(Set(left) == ["of the app", "tidemark-listen-database"])
            #expect(try await forget() == ["of the app"])
        }
    }
}
