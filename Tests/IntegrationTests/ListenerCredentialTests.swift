import CloudKit
import CloudKitTesting
import Foundation
import ServerCertificates
import TestSupport
import Testing

/// As whom `tidemark-listen` listens, and what ends it because it can never work.
@Suite(.timeLimit(.minutes(10)))
struct ListenerCredentialTests {
    @Test
    func `a service listens to the public database, and for a user whom it acts for`() async throws {
        let container = "iCloud.org.example.listen"
        let server = try ServerProcess()
        try await server.administer(["container", "create", container])
        let token = try await server.administer(["user", "add", "alice", "--container", container])
        let key = server.folder.path + "/key.pem"
        try await server.administer([
            "key", "add", "shop", "--on-behalf-of", "alice", "--container", container,
        ]).write(toFile: key, atomically: true, encoding: .utf8)
        try await server.start()
        let variables = [
            "TIDEMARK_URL": "tidemark://127.0.0.1:\(server.port)", "TIDEMARK_CA": server.authorityPath,
            "TIDEMARK_CONTAINER": container, "TIDEMARK_SERVICE_KEY": key,
        ]
        let connection = CKServerConnection(
            url: "tidemark://127.0.0.1:\(server.port)",
            token: token,
            certificateAuthority: .file(server.authorityPath)
        )
        let alice = CKContainer(identifier: container, connection: connection)
        try await alice.privateCloudDatabase.save(CKRecordZone(zoneName: "desk"))
        try await alice.publicCloudDatabase.save(CKRecord(recordType: "Offer"))

        let own = try ListenerProcess.start(
            variables,
            in: TemporaryDirectory(),
            ["--public", "--query", "Offer"]
        )
        try await own.says(": listening")
        try await alice.publicCloudDatabase.save(CKRecord(recordType: "Offer"))
        #expect(try await own.lines(1)[0].contains("created (public)"))
        #expect(await own.stop().exitCode == 0)

        let onBehalf = try ListenerProcess.start(
            variables.merging(["TIDEMARK_ON_BEHALF_OF": "alice"]) { $1 },
            in: TemporaryDirectory(),
            ["--zone", "desk"]
        )
        try await onBehalf.says(": listening")
        let id = CKRecord.ID(recordName: "note", zoneID: CKRecordZone.ID(zoneName: "desk"))
        try await alice.privateCloudDatabase.save(CKRecord(recordType: "Note", recordID: id))
        #expect(try await onBehalf.lines(1)[0].contains("zone desk changed (private)"))
        #expect(await onBehalf.stop().exitCode == 0)
        await connection.close()
        #expect(await server.end(SIGTERM) == 0)
    }

    @Test
    func `whoever is not signed in finds what changes in the public database`() async throws {
        try await Desk.run { desk in
            let database = desk.container.publicCloudDatabase
            func note(_ name: String, pages: Int) -> CKRecord {
                let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
                record["pages"] = pages
                return record
            }
            try await database.save(note("old", pages: 20))
            let folder = try TemporaryDirectory()
            let log = folder.path + "/log"
            let listener = try ListenerProcess.start(
                await ListenerProcess.variables(of: nil, at: desk, in: folder),
                in: folder,
                [
                    "--public", "--query", "Note", "pages > 10", "--interval", "0.1", "--json",
                    "--exec", "cat >>\(log)",
                ]
            )
            try await listener.says("polling for changes every 0.1 s")
            try await database.save(note("thin", pages: 1))
            try await database.save(note("thick", pages: 11))
            _ = try await listener.lines(1)
            try await database.deleteRecord(withID: CKRecord.ID(recordName: "thin"))
            try await database.deleteRecord(withID: CKRecord.ID(recordName: "old"))
            let lines = try await listener.lines(2)
            #expect(lines.map { $0.json("record") } == ["thick", "old"])
            #expect(lines.map { $0.json("reason") } == ["created", "deleted"])
            #expect(
                lines.allSatisfy { $0.json("database") == "public" && $0.json("notification") == "query" }
            )
            #expect(await listener.stop().lines.count == 2)
            #expect(try String(contentsOfFile: log, encoding: .utf8).hasPrefix(lines[0] + "\n"))
        }
    }

    @Test
    func `without a token or a key there is nothing but the public database`() async throws {
        try await Desk.run { desk in
            for arguments in [
                ["--zone", "desk"], ["--query", "Note"], ["--forget", "--public", "--query", "N"],
            ] {
                let outcome = try await ChildProcess.run(
                    ChildProcess.buildFolder.appendingPathComponent("tidemark-listen"),
                    arguments,
                    environment: ["TIDEMARK_URL": desk.server.url, "TIDEMARK_CONTAINER": "iCloud.test"]
                )
                #expect(outcome.exitCode == 64)
                #expect(outcome.errors.contains("there is no credential"), "\(outcome.errors)")
            }
        }
    }

    @Test(arguments: [
        (["TIDEMARK_TOKEN": "wrong"], Int32(65), "tidemark user renew"),
        (["TIDEMARK_CA": "/nowhere/ca.pem"], 78, "/nowhere/ca.pem"),
        (["TIDEMARK_CONTAINER": "iCloud.another"], 78, "iCloud.another"),
        (["TIDEMARK_URL": "http://127.0.0.1"], 78, "TIDEMARK_URL"),
        (["TIDEMARK_TOKEN": "", "TIDEMARK_SERVICE_KEY": "/nowhere.pem"], 78, "/nowhere.pem"),
    ])
    func `what can never work ends it with what to do`(
        settings: [String: String],
        exitCode: Int32,
        text: String
    ) async throws {
        try await Desk.run { desk in
            for wish in [["--zone", "desk"], []] {
                let folder = try TemporaryDirectory()
                let variables = try await ListenerProcess.variables(of: "alice", at: desk, in: folder)
                let listener = try ListenerProcess.start(
                    variables.merging(settings) { $1 },
                    in: folder,
                    wish
                )
                let outcome = await listener.process.outcome()
                #expect(outcome.exitCode == exitCode, "\(outcome.errors)")
                #expect(outcome.errors.contains(text), "\(outcome.errors)")
                #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
            }
        }
    }

    @Test
    func `an authority that did not sign ends it`() async throws {
        try await Desk.run { desk in
            let folder = try TemporaryDirectory()
            let other = folder.path + "/other.pem"
            try ServerCertificates.make(hosts: []).authorityPEM
                .write(toFile: other, atomically: true, encoding: .utf8)
            let variables = try await ListenerProcess.variables(of: "alice", at: desk, in: folder)
            let stranger = try ListenerProcess.start(
                variables.merging(["TIDEMARK_CA": other]) { $1 },
                in: folder,
                ["--zone", "desk"]
            )
            let outcome = await stranger.process.outcome()
            #expect(outcome.exitCode == 78)
            #expect(outcome.errors.contains("TIDEMARK_CA"), "\(outcome.errors)")
        }
    }

    @Test
    func `a token that is revoked ends it: nobody can give it another`() async throws {
        try await Desk.run { desk in
            let listener = try await ListenerProcess.start(desk, in: TemporaryDirectory(), "--zone", "desk")
            try await listener.says(": listening")
            try await desk.server.revoke("alice")
            try await desk.server.restart()
            let outcome = await listener.process.outcome()
            #expect(outcome.exitCode == 65)
            #expect(outcome.errors.contains("tidemark user renew"), "\(outcome.errors)")
        }
    }
}
