import CloudKit
import CloudKitTesting
import Foundation
import TestSupport
import Testing

/// What `tidemark-listen` says, refuses and fetches, against the real server.
@Suite(.timeLimit(.minutes(10)))
struct ListenerFetchTests {
    @Test
    func `its help has examples, and wrong usage ends with 64`() async throws {
        let program = ChildProcess.buildFolder.appendingPathComponent("tidemark-listen")
        let help = try await ChildProcess.run(program, ["--help"])
        #expect(help.exitCode == 0)
        #expect(help.output.contains("tidemark-listen --zone notes"))
        let version = try await ChildProcess.run(program, ["--version"])
        #expect(version.exitCode == 0 && version.output.contains(/^\d+\.\d+\.\d+\n$/))
        for arguments in [
            [], ["--state", "x"], ["--public"], ["--query", "A", "b", "c"], ["--environment", "x"],
            ["--forget", "--fetch"], ["--interval", "0"], ["--on-behalf-of", "alice"],
        ] {
            let outcome = try await ChildProcess.run(program, arguments)
            #expect(outcome.exitCode == 64, "\(arguments)")
            #expect(outcome.output.isEmpty && !outcome.errors.isEmpty)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `it ends with 0 when it is told to stop`(signal: Int32) async throws {
        try await Desk.run { desk in
            let listener = try await ListenerProcess.start(desk, in: TemporaryDirectory(), "--zone", "desk")
            try await listener.says("subscribed to zone desk")
            let outcome = await listener.stop(signal)
            #expect(outcome.exitCode == 0)
            #expect(outcome.output.isEmpty)
        }
    }

    @Test
    func `a subscription that the server refuses ends it with 65 and the reason`() async throws {
        try await Desk.run { desk in
            for (option, value) in [("--zone", "nowhere"), ("--query", "no type")] {
                let listener = try await ListenerProcess.start(desk, in: TemporaryDirectory(), option, value)
                let outcome = await listener.process.outcome()
                #expect(outcome.exitCode == 65)
                #expect(outcome.errors.contains("cannot subscribe to"), "\(outcome.errors)")
            }
        }
    }

    @Test
    func `starting again reuses its subscription, and one of another name that is the same`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(CKDatabaseSubscription(subscriptionID: "of the app"))
            for _ in 0..<2 {
                let listener = try await ListenerProcess.start(
                    desk,
                    in: TemporaryDirectory(),
                    "--database",
                    "--zone",
                    "desk"
                )
                try await listener.says("subscribed to the private database before")
                try await listener.says("subscribed to zone desk")
                #expect(await listener.stop().exitCode == 0)
            }
            let ids = try await desk.database.allSubscriptions().map(\.subscriptionID)
            #expect(ids.count == 2 && ids.contains("of the app"))
            #expect(ids.contains { $0.hasPrefix("tidemark-listen-zone-") })
        }
    }

    @Test
    func `it fetches everything once, and from run to run what happened since`() async throws {
        try await Desk.run { desk in
            let folder = try TemporaryDirectory()
            func run() async throws -> [String] {
                let listener = try await ListenerProcess.start(
                    desk,
                    in: folder,
                    "--zone",
                    "desk",
                    "--fetch",
                    "--json"
                )
                // Neither waits for the other.
                try await listener.says("listening")
                try await listener.says("caught up")
                let outcome = await listener.stop()
                let said = outcome.errors.split(separator: "\n").map {
                    String($0.dropFirst("tidemark-listen: ".count))
                }
                #expect(said.first?.hasPrefix("subscribed to zone desk") == true)
                #expect(said.dropFirst().sorted() == ["caught up", "listening"])
                return outcome.lines.filter { $0.json("change") != nil }
            }
            for number in 1...3 { try await desk.database.save(desk.record("n\(number)", ["n": number])) }
            #expect(try await run().compactMap { $0.json("record") } == ["n1", "n2", "n3"])
            #expect(try await run().isEmpty)

            let changed = try await desk.database.record(for: desk.id("n2"))
            changed["text"] = "Grüße\n/"
            try await desk.database.save(changed)
            try await desk.database.deleteRecord(withID: desk.id("n3"))
            let lines = try await run()
            #expect(lines.map { $0.json("change") } == ["saved", "deleted"])
            #expect(lines.map { $0.json("record") } == ["n2", "n3"])
            #expect(lines[0].contains(#""fields":{"n":2,"text":"Grüße\n/"}"#), "\(lines[0])")
            #expect(lines.allSatisfy { $0.json("type") == "Note" && $0.json("zone") == "desk" })
        }
    }

    @Test
    func `of a query it fetches what meets it, and tells what does so no more`() async throws {
        try await Desk.run { desk in
            let folder = try TemporaryDirectory()
            func run(_ arguments: String...) async throws -> [String] {
                let listener = try ListenerProcess.start(
                    await ListenerProcess.variables(of: "alice", at: desk, in: folder),
                    in: folder,
                    ["--query", "Note", "pages > 10", "--fetch"] + arguments
                )
                try await listener.says("caught up")
                return await listener.stop().lines.filter { $0.hasPrefix("  ") }
            }
            func turn(_ name: String, to pages: Int) async throws {
                let record = try await desk.database.record(for: desk.id(name))
                record["pages"] = pages
                try await desk.database.save(record)
            }
            for (name, pages) in [("a", 11), ("b", 12), ("c", 13), ("d", 1), ("e", 2)] {
                try await desk.database.save(desk.record(name, ["pages": pages]))
            }
            let other = CKRecord(recordType: "Book", recordID: desk.id("book"))
            other["pages"] = 500
            try await desk.database.save(other)
            #expect(
                try await run() == [
                    "  saved Note a in desk pages=11", "  saved Note b in desk pages=12",
                    "  saved Note c in desk pages=13",
                ]
            )
            try await turn("a", to: 3)
            try await turn("d", to: 14)
            for name in ["b", "e", "book"] { try await desk.database.deleteRecord(withID: desk.id(name)) }
            // Without a state of its own: what meets the query now is known, and nothing of it told.
            let later = folder.path + "/later.json"
            #expect(try await run("--from-now", "--state", later).isEmpty)
            #expect(
                try await run() == [
                    "  left Note a in desk", "  saved Note d in desk pages=14", "  deleted Note b in desk",
                ]
            )
            try await turn("c", to: 4)
            for arguments in [[], ["--from-now", "--state", later]] {
                let lines =
                    arguments.isEmpty ? try await run() : try await run("--from-now", "--state", later)
                #expect(lines == ["  left Note c in desk"])
            }
            try await desk.database.deleteRecordZone(withID: desk.zone)
            #expect(try await run() == ["  deleted Note d in desk"])
        }
    }

    @Test
    func `a whole database is followed zone by zone`() async throws {
        try await Desk.run { desk in
            let folder = try TemporaryDirectory()
            func run() async throws -> [String] {
                let listener = try await ListenerProcess.start(desk, in: folder, "--database", "--fetch")
                try await listener.says("caught up")
                // Beside what changed it may be told that something did.
                return await listener.stop().lines.filter { $0.hasPrefix("  ") }
            }
            try await desk.database.save(desk.record("note"))
            let first = try await run()
            #expect(first.contains("  zone desk has changes") && first.contains("  saved Note note in desk"))
            try await desk.database.deleteRecordZone(withID: desk.zone)
            #expect(try await run() == ["  zone desk was deleted"])
        }
    }

    @Test
    func `it begins with now when it is told to, and only where it has no token`() async throws {
        try await Desk.run { desk in
            let folder = try TemporaryDirectory()
            func run() async throws -> [String] {
                let listener = try await ListenerProcess.start(
                    desk,
                    in: folder,
                    "--database",
                    "--fetch",
                    "--from-now",
                    "--json"
                )
                try await listener.says("caught up")
                return await listener.stop().lines.compactMap { $0.json("record") }
            }
            try await desk.database.save(desk.record("before"))
            #expect(try await run().isEmpty)
            try await desk.database.save(desk.record("after"))
            #expect(try await run() == ["after"])
        }
    }

    @Test
    func `a token that has expired is told, and the feed fetched from its beginning`() async throws {
        try await Desk.run { desk in
            let folder = try TemporaryDirectory()
            try await desk.database.save(desk.record("note"))
            let state = folder.path + "/state.json"
            for isFirst in [true, false] {
                let listener = try await ListenerProcess.start(
                    desk,
                    in: folder,
                    "--zone",
                    "desk",
                    "--fetch",
                    "--state",
                    state
                )
                try await listener.says("caught up")
                let outcome = await listener.stop()
                #expect(outcome.lines == ["  saved Note note in desk"])
                #expect(outcome.errors.contains("has expired") != isFirst)
                // A zone of the same name is another zone.
                try await desk.database.deleteRecordZone(withID: desk.zone)
                try await desk.database.save(CKRecordZone(zoneName: "desk"))
                try await desk.database.save(desk.record("note"))
            }
        }
    }

    @Test
    func `a server that never accepts its own token is asked at ever longer intervals`() async throws {
        try await Desk.run { desk in
            for batch in 0..<3 {
                let records = (0..<400).map { desk.record("\(batch)-\($0)") }
                _ = try await desk.database.modifyRecords(saving: records, deleting: [])
            }
            let expirations = 3
            for number in 1...expirations {
                desk.server.faults.add(.fetchChanges(.number(2 * number)), .changeTokenExpired)
            }
            let listener = try await ListenerProcess.start(
                desk,
                in: TemporaryDirectory(),
                "--zone",
                "desk",
                "--fetch"
            )
            try await listener.says("caught up")
            let outcome = await listener.stop()
            #expect(Set(outcome.lines).count == 1_200)
            #expect(desk.server.faults.happened == expirations)
            let said = outcome.errors.split(separator: "\n").filter { $0.contains("has expired") }
            #expect(said.count == expirations, "\(said)")
            #expect(said.dropFirst().allSatisfy { $0.contains("has expired again") }, "\(said)")
            #expect(said.map { String($0.suffix(8)) }.dropFirst() == ["in 1.0 s", "in 2.0 s"])
        }
    }

    @Test
    func `a state file that cannot be written ends it before anything is printed`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(desk.record("note"))
            let folder = try TemporaryDirectory()
            try "".write(toFile: folder.path + "/file", atomically: true, encoding: .utf8)
            let listener = try await ListenerProcess.start(
                desk,
                in: folder,
                "--zone",
                "desk",
                "--fetch",
                "--state",
                folder.path + "/file/state.json"
            )
            let outcome = await listener.process.outcome()
            #expect(outcome.exitCode == 73)
            #expect(outcome.output.isEmpty)
            #expect(!outcome.errors.contains("operation"), "\(outcome.errors)")
            #expect(outcome.errors.contains("): name another file with --state"), "\(outcome.errors)")
        }
    }

    @Test
    func `a state file that is none, or another container's, is left alone`() async throws {
        try await Desk.run { desk in
            let folder = try TemporaryDirectory()
            let state = folder.path + "/state.json"
            for content in ["{}", #"{"container": "iCloud.other", "tokens": {}}"#] {
                try content.write(toFile: state, atomically: true, encoding: .utf8)
                let listener = try await ListenerProcess.start(
                    desk,
                    in: folder,
                    "--database",
                    "--fetch",
                    "--state",
                    state
                )
                #expect(await listener.process.outcome().exitCode == 73)
                #expect(try String(contentsOfFile: state, encoding: .utf8) == content)
            }
        }
    }
}
