import CloudKit
import Foundation
import TestSupport
import Testing

/// What `tidemark-listen` says, refuses and fetches, against the real server.
@Suite(.timeLimit(.minutes(2)))
struct ListenerFetchTests {
    @Test
    func `its help has examples, and wrong usage ends with 64`() async throws {
        let program = ChildProcess.buildFolder.appendingPathComponent("tidemark-listen")
        let help = try await ChildProcess.run(program, ["--help"])
        #expect(help.exitCode == 0)
        #expect(help.output.contains("tidemark-listen --zone notes"))
        for arguments in [
            [], ["--state", "x"], ["--public"], ["--query", "A", "b", "c"], ["--environment", "x"],
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
                try await listener.says("caught up")
                return await listener.stop().lines.filter { $0.json("change") != nil }
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
    func `a whole database is followed zone by zone`() async throws {
        try await Desk.run { desk in
            let folder = try TemporaryDirectory()
            func run() async throws -> [String] {
                let listener = try await ListenerProcess.start(desk, in: folder, "--database", "--fetch")
                try await listener.says("caught up")
                return await listener.stop().lines
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
