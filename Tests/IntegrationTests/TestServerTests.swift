import CloudKit
import CloudKitTesting
import Foundation
import Logging
import Testing

/// What a test can ask of its server besides records.
@Suite(.timeLimit(.minutes(10)))
struct TestServerTests {
    private static let schema = """
        DEFINE SCHEMA
            CREATE ROLE Editor;
            RECORD TYPE Page (
                text STRING,
                GRANT READ TO "_world",
                GRANT READ, CREATE, WRITE TO Editor
            );
        """

    @Test func `a list is shared by e-mail`() async throws {
        try await SharingScene.run { scene in
            try await scene.server.setContacts(emails: ["bob@example.org"], of: "bob")
            let bob = try await scene.alice.shareParticipant(forEmailAddress: "Bob@Example.org")
            let share = try await scene.shareList { $0.addParticipant(bob) }
            let joined = try await scene.join(share.url)
            #expect(joined.currentUserParticipant?.acceptanceStatus == .accepted)
            let taken = await #expect(throws: (any Error).self) {
                try await scene.server.setContacts(emails: ["bob@example.org"], of: "carol")
            }
            #expect(taken != nil)
        }
    }

    @Test func `a role of the public database counts from the next request on`() async throws {
        try await TestServer.run { server in
            try await server.importSchema(Self.schema)
            let database = try await server.container(for: "alice").publicCloudDatabase
            await expect(.permissionFailure) { try await database.save(CKRecord(recordType: "Page")) }
            try await server.setRole("Editor", of: "alice")
            try await database.save(CKRecord(recordType: "Page"))
            try await server.setRole("Editor", of: "alice", isGiven: false)
            await expect(.permissionFailure) { try await database.save(CKRecord(recordType: "Page")) }
        }
    }

    @Test func `a service has a key, and acts for a user`() async throws {
        try await TestServer.run { server in
            let shop = try await server.container(forService: "shop")
            try await shop.publicCloudDatabase.save(CKRecord(recordType: "Offer"))
            await expect(.permissionFailure) {
                try await shop.privateCloudDatabase.save(CKRecord(recordType: "Offer"))
            }
            let alice = try await server.container(for: "alice")
            let id = CKRecord.ID(recordName: "diary")
            try await alice.privateCloudDatabase.save(CKRecord(recordType: "Note", recordID: id))
            let backup = try await server.container(forService: "backup", onBehalfOf: "alice")
            _ = try await backup.privateCloudDatabase.record(for: id)
        }
    }

    @Test func `a user stores no more than the quota`() async throws {
        var options = TestServer.Options()
        options.userBytesMax = 10_000
        try await TestServer.run(options) { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let note = CKRecord(recordType: "Note")
            note["text"] = String(repeating: "a", count: 20_000)
            await expect(.quotaExceeded) { try await database.save(note) }
            note["text"] = "short"
            try await database.save(note)
        }
    }

    @Test func `a revoked user is out when the call returns, and in again with a new token`() async throws {
        try await TestServer.run { server in
            let alice = try await server.container(for: "alice")
            let bob = try await server.container(for: "bob")
            for container in [alice, bob] {
                try await container.privateCloudDatabase.save(CKRecord(recordType: "Note"))
            }
            try await server.revoke("alice")
            await expect(.notAuthenticated) {
                try await alice.privateCloudDatabase.save(CKRecord(recordType: "Note"))
            }
            try await bob.privateCloudDatabase.save(CKRecord(recordType: "Note"))
            try await server.renew("alice")
            let again = try await server.container(for: "alice")
            try await again.privateCloudDatabase.save(CKRecord(recordType: "Note"))
            // A new token takes the place of the one that is in use, too.
            try await server.renew("alice")
            await expect(.notAuthenticated) {
                try await again.privateCloudDatabase.save(CKRecord(recordType: "Note"))
            }
            await #expect(throws: (any Error).self) { try await server.revoke("nobody") }
        }
    }

    @Test func `requests are counted, and the log can be read and passed on`() async throws {
        let lines = Collected<String>()
        var options = TestServer.Options()
        options.logger = Logger(label: "test") { _ in LineHandler(lines: lines) }
        options.logger?.logLevel = .trace
        try await TestServer.run(options) { server in
            let alice = try await server.container(for: "alice")
            server.faults.add(.save(.next), .zoneBusy(retryAfter: 0.01))
            await expect(.zoneBusy) {
                try await alice.privateCloudDatabase.save(CKRecord(recordType: "Note"))
            }
            for user in [alice, try await server.container(for: "bob")] {
                try await user.privateCloudDatabase.save(CKRecord(recordType: "Note"))
            }
            #expect(server.faults.requests(.save(.every)) == 3)
            #expect(server.faults.requests(.save(.every, by: "alice")) == 2)
            #expect(server.faults.requests(.fetch(.every)) == 0)
            #expect(server.log.contains(" info listening host=127.0.0.1 port="))
            #expect(lines.values.contains("listening"))
        }
    }

    @Test func `servers have ports of their own, and keep them through restarts`() async throws {
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await TestServer.run { server in
                        let database = try await server.container(for: "alice").privateCloudDatabase
                        for _ in 0..<3 {
                            try await server.restart()
                            try await database.save(CKRecord(recordType: "Note"))
                        }
                        return server.url
                    }
                }
            }
            for try await url in group { #expect(url.hasPrefix("tidemark://localhost:")) }
        }
    }
}

/// Collects the messages of a logger.
private struct LineHandler: LogHandler {
    let lines: Collected<String>
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(lines: Collected<String>) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) { self.lines.append(event.message.description) }
}
