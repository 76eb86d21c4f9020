import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// The permissions of users.
struct AccessTests {
    @Test(.timeLimit(.minutes(10)))
    func `two users share the public database and nothing else`() async throws {
        try await TestServer.runOnChosenEngine { server in
            let alice = try await server.container(for: "alice")
            let bob = try await server.container(for: "bob")
            let id = CKRecord.ID(recordName: "notice")
            let record = CKRecord(recordType: "Notice", recordID: id)
            record["text"] = "hello"
            try await alice.publicCloudDatabase.save(record)
            try await alice.privateCloudDatabase.save(CKRecord(recordType: "Notice", recordID: id))

            let seen = try await bob.publicCloudDatabase.record(for: id)
            #expect(seen["text"] as? String == "hello")
            let hidden = await thrown { _ = try await bob.privateCloudDatabase.record(for: id) }
            #expect(hidden?.code == .unknownItem)

            seen["text"] = "changed"
            await expect(.permissionFailure) { try await bob.publicCloudDatabase.save(seen) }
            let delete = await thrown { try await bob.publicCloudDatabase.deleteRecord(withID: id) }
            #expect(delete?.code == .permissionFailure)
            #expect(try await alice.publicCloudDatabase.record(for: id)["text"] as? String == "hello")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `nobody keeps another user's public record from being deleted`() async throws {
        try await TestServer.runOnChosenEngine { server in
            let alice = try await server.container(for: "alice").publicCloudDatabase
            let bob = try await server.container(for: "bob").publicCloudDatabase
            let notice = CKRecord(recordType: "Notice", recordID: CKRecord.ID(recordName: "notice"))
            try await alice.save(notice)
            for action in [CKRecord.ReferenceAction.deleteSelf, .none] {
                let answer = CKRecord(recordType: "Answer")
                answer["to"] = CKRecord.Reference(record: notice, action: action)
                if action == .none {
                    try await bob.save(answer)
                } else {
                    await expect(.permissionFailure) { try await bob.save(answer) }
                }
            }
            let child = CKRecord(recordType: "Answer")
            child.setParent(notice)
            let refused = await thrown { try await bob.save(child) }
            #expect(refused?.code == .permissionFailure)
            #expect(refused?.localizedDescription.contains("WRITE on 'notice'") == true)
            try await alice.deleteRecord(withID: notice.recordID)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `somebody who is not signed in reads the public database and writes nothing`() async throws {
        try await TestServer.runOnChosenEngine { server in
            let alice = try await server.container(for: "alice")
            let nobody = try await server.anonymousContainer()
            let id = CKRecord.ID(recordName: "notice")
            try await alice.publicCloudDatabase.save(CKRecord(recordType: "Notice", recordID: id))
            _ = try await nobody.publicCloudDatabase.record(for: id)
            let record = CKRecord(recordType: "Notice")
            await expect(.notAuthenticated) { try await nobody.publicCloudDatabase.save(record) }
            let fetch = await thrown { _ = try await nobody.privateCloudDatabase.record(for: id) }
            #expect(fetch?.code == .notAuthenticated)
            #expect(try await nobody.accountStatus() == .noAccount)
            #expect(try await alice.accountStatus() == .available)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a wrong and a revoked token are refused alike`() async throws {
        try await TestServer.runOnChosenEngine { server in
            var connection = try await server.connection(for: "alice")
            connection.token = "tmk_wrong"
            let wrong = CKContainer(identifier: TestServer.defaultContainerIdentifier, connection: connection)
            let id = CKRecord.ID(recordName: "a")
            let refusal = await thrown { _ = try await wrong.privateCloudDatabase.record(for: id) }
            #expect(refusal?.code == .notAuthenticated)
            await connection.close()

            let bob = try await server.container(for: "bob")
            try await server.revoke("bob")
            let revoked = await thrown { _ = try await bob.privateCloudDatabase.record(for: id) }
            #expect(revoked?.code == .notAuthenticated)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `development and production never meet`() async throws {
        try await TestServer.runOnChosenEngine { server in
            let development = try await server.container(for: "alice")
            let production = try await server.container(for: "alice", environment: .production)
            let id = CKRecord.ID(recordName: "a")
            try await development.privateCloudDatabase.save(CKRecord(recordType: "Note", recordID: id))
            let error = await thrown { _ = try await production.privateCloudDatabase.record(for: id) }
            #expect(error?.code == .unknownItem)
        }
    }
}
