import CloudKit
import Crypto
import Foundation
import Synchronization
import TestSupport
import Testing

/// Services, rotated tokens and identity providers: the SDK against the real executable.
@Suite(.timeLimit(.minutes(10)))
struct CredentialTests {
    private static let container = "iCloud.org.example.keys"

    /// A server with a container and the user alice.
    private struct Host {
        let process: ServerProcess
        let aliceToken: String

        static func run(settings: [String] = [], _ body: (Host) async throws -> Void) async throws {
            let process = try ServerProcess(settings: settings)
            try await process.administer(["container", "create", CredentialTests.container])
            let token = try await process.administer([
                "user", "add", "alice", "--container", CredentialTests.container,
            ])
            try await process.start()
            let result: Result<Void, any Error>
            do {
                try await body(Host(process: process, aliceToken: token))
                result = .success(())
            } catch {
                result = .failure(error)
            }
            #expect(await process.end(SIGTERM) == 0)
            try result.get()
        }

        @discardableResult
        func administer(_ arguments: String...) async throws -> String {
            try await self.process.administer(arguments + ["--container", CredentialTests.container])
        }

        var connection: CKServerConnection {
            CKServerConnection(
                url: "tidemark://127.0.0.1:\(self.process.port)",
                certificateAuthority: .file(self.process.authorityPath)
            )
        }

        /// Gives the body a container with a connection of its own.
        func connected(
            _ change: (inout CKServerConnection) -> Void,
            _ body: (CKContainer) async throws -> Void
        ) async throws {
            var connection = self.connection
            change(&connection)
            do {
                try await body(CKContainer(identifier: CredentialTests.container, connection: connection))
                await connection.close()
            } catch {
                await connection.close()
                throw error
            }
        }

        /// Whether a token signs its user in.
        func letsIn(_ token: String) async -> Bool {
            let signedIn: Void? = try? await self.connected({ $0.token = token }) {
                _ = try await $0.userRecordID()
            }
            return signedIn != nil
        }
    }

    /// Asks until the server refuses, and returns the error and how long that took.
    private func untilRefused(_ container: CKContainer) async throws -> (error: CKError, after: Duration) {
        let clock = ContinuousClock()
        let start = clock.now
        while true {
            do {
                _ = try await container.publicCloudDatabase.recordZone(for: CKRecordZone.default().zoneID)
                try await Task.sleep(for: .milliseconds(20))
            } catch let error as CKError {
                return (error, clock.now - start)
            }
            try #require(clock.now - start < .seconds(600))
        }
    }

    @Test func `a service saves in the public database, until its key is revoked`() async throws {
        try await Host.run { host in
            let pem = try await host.administer("key", "add", "shop")
            #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
            try await host.connected({ $0.serviceKey = .init(.pem(pem)) }) { shop in
                let record = CKRecord(recordType: "Offer", recordID: CKRecord.ID(recordName: "one"))
                record["price"] = 3
                try await shop.publicCloudDatabase.save(record)
                let user = try await shop.userRecordID()
                #expect(
                    record.creatorUserRecordID?.recordName == CKCurrentUserDefaultName
                        || record.creatorUserRecordID == user
                )
                await expect(.permissionFailure) {
                    try await shop.privateCloudDatabase.save(CKRecord(recordType: "Offer"))
                }
                let listed = try await host.administer("key", "list", "--json")
                let rows = try JSONSerialization.jsonObject(with: Data(listed.utf8)) as? [[String: Any]]
                #expect(rows?.first?["userRecordName"] as? String == user.recordName)
                #expect(rows?.first?["service"] as? String == "shop")

                try await host.administer("key", "revoke", "shop")
                let (error, after) = try await self.untilRefused(shop)
                #expect(error.code == .notAuthenticated)
                // Within a second, and what a machine under load needs to say so.
                #expect(after < .seconds(10))
                #expect(error.localizedDescription.contains("revoked"))
            }
        }
    }

    @Test func `a service reads a user's private database if the operator said so`() async throws {
        try await Host.run { host in
            try await host.administer("user", "add", "bob")
            let pem = try await host.administer("key", "add", "backup", "--on-behalf-of", "alice")
            let file = host.process.folder.path + "/backup.pem"
            try pem.write(toFile: file, atomically: true, encoding: .utf8)
            let id = CKRecord.ID(recordName: "diary")
            try await host.connected({ $0.token = host.aliceToken }) { alice in
                try await alice.privateCloudDatabase.save(CKRecord(recordType: "Note", recordID: id))
                let user = try await alice.userRecordID()
                try await host.connected({ $0.serviceKey = .init(.file(file), onBehalfOf: "alice") }) {
                    service in
                    _ = try await service.privateCloudDatabase.record(for: id)
                    #expect(try await service.userRecordID() == user)
                }
            }
            for name in ["bob", "nobody"] {
                try await host.connected({ $0.serviceKey = .init(.file(file), onBehalfOf: name) }) {
                    service in
                    await expect(.notAuthenticated) {
                        _ = try await service.privateCloudDatabase.record(for: id)
                    }
                }
            }
        }
    }

    @Test func `a name that can be none is wrong usage`() async throws {
        try await Host.run { host in
            for (arguments, text) in [
                (["container", "create", "bad id"], "cannot be a container's name"),
                (["user", "add", "_alice", "--container", Self.container], "cannot be a user's name"),
            ] {
                let outcome = try await ChildProcess.run(
                    ChildProcess.tidemark,
                    arguments + ["--data", host.process.dataPath]
                )
                #expect(outcome.exitCode == 64)
                #expect(outcome.errors.contains(text), "\(outcome.errors)")
            }
        }
    }

    @Test func `a key made with openssl is registered by its public half`() async throws {
        try await Host.run { host in
            let key = P256.Signing.PrivateKey()
            let file = host.process.folder.path + "/shop.pub"
            try key.publicKey.pemRepresentation.write(toFile: file, atomically: true, encoding: .utf8)
            let printed = try await host.administer("key", "add", "shop", "--public-key", file)
            #expect(printed == "")
            try await host.connected({ $0.serviceKey = .init(.pem(key.pemRepresentation)) }) { shop in
                try await shop.publicCloudDatabase.save(CKRecord(recordType: "Offer"))
            }
            for (arguments, text) in [
                (["key", "add", "alice"], "alice is a user"),
                (["key", "add", "shop", "--public-key", file], "registered"),
                (["key", "add", "two", "--public-key", "/none"], "cannot be read"),
                (["key", "add", "two", "--on-behalf-of", "eve"], "is not a user"),
                (["key", "revoke", "none"], "no service none"),
                (["key", "revoke", "shop", "--key-id", "abc"], "no such valid key"),
                (["user", "renew", "shop"], "is a service"),
            ] {
                let outcome = try await ChildProcess.run(
                    ChildProcess.tidemark,
                    arguments + ["--container", Self.container, "--data", host.process.dataPath]
                )
                #expect(outcome.exitCode == 65)
                #expect(outcome.errors.contains(text), "\(outcome.errors)")
            }
        }
    }

    @Test func `a token that is rotated is asked for again, and what was begun goes on`() async throws {
        try await Host.run { host in
            let tokens = Mutex([host.aliceToken])
            let asked = Mutex(0)
            let provider = CKServerConnection.TokenProvider {
                asked.withLock { $0 += 1 }
                return tokens.withLock { $0.last ?? "" }
            }
            try await host.connected({ $0.tokenProvider = provider }) { alice in
                let id = CKRecord.ID(recordName: "note")
                try await alice.privateCloudDatabase.save(CKRecord(recordType: "Note", recordID: id))
                #expect(asked.withLock { $0 } == 1)
                let new = try await host.administer("user", "rotate", "alice", "--overlap", "0")
                tokens.withLock { $0.append(new) }
                // The connection ends within a second, and no request notices.
                let clock = ContinuousClock()
                let start = clock.now
                while asked.withLock({ $0 }) == 1, clock.now - start < .seconds(600) {
                    _ = try await alice.privateCloudDatabase.record(for: id)
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(asked.withLock { $0 } == 2)
                _ = try await alice.privateCloudDatabase.record(for: id)
            }
            try await host.connected({ $0.token = host.aliceToken }) { old in
                await expect(.notAuthenticated) { _ = try await old.userRecordID() }
            }
        }
    }

    @Test func `tokens of an identity provider let in, and its keys are read again`() async throws {
        let folder = try TemporaryDirectory()
        let keys = folder.path + "/keys.pem"
        let (first, second) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        try first.publicKey.pemRepresentation.write(toFile: keys, atomically: true, encoding: .utf8)
        let settings = [
            "--set", "jwt_keys_file=\(keys)", "--set", "jwt_issuer=https://id.test", "--set",
            "jwt_create_users=1",
            "--set", "jwt_leeway_s=0",
        ]
        try await Host.run(settings: settings) { host in
            let long = try Self.token(of: "auth0|ada", signedWith: first, seconds: 600)
            try await host.connected({ $0.token = long }) { ada in
                try await ada.privateCloudDatabase.save(CKRecord(recordType: "Note"))
            }
            #expect(try await host.administer("user", "list").contains(/auth0\|ada +active/))
            // A token ends its connection when it ends.
            let short = try Self.token(of: "auth0|ada", signedWith: first, seconds: 3)
            try await host.connected({ $0.token = short }) { ada in
                let (error, after) = try await self.untilRefused(ada)
                #expect(error.code == .notAuthenticated)
                #expect(after < .seconds(20))
                #expect(error.localizedDescription.contains("expired"))
            }
            try second.publicKey.pemRepresentation.write(toFile: keys, atomically: true, encoding: .utf8)
            while !host.process.log().contains("reloaded the identity provider's keys") {
                try await Task.sleep(for: .milliseconds(50))
            }
            try await host.connected({
                $0.token = try? Self.token(of: "ada", signedWith: second, seconds: 600)
            }) { ada in
                _ = try await ada.userRecordID()
            }
            try await host.connected({
                $0.token = try? Self.token(of: "ada", signedWith: first, seconds: 600)
            }) { ada in
                await expect(.notAuthenticated) { _ = try await ada.userRecordID() }
            }
            #expect(!host.process.log().contains(long))
        }
    }

    @Test func `an emptied or deleted key set lets nobody in, and a spoilt one changes nothing`() async throws
    {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/keys"
        let key = P256.Signing.PrivateKey()
        let token = try Self.token(of: "ada", signedWith: key, seconds: 600)
        func write(_ text: String) throws {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
        }
        try write(key.publicKey.pemRepresentation)
        let settings = [
            "--set", "jwt_keys_file=\(path)", "--set", "jwt_issuer=https://id.test", "--set",
            "jwt_create_users=1",
        ]
        try await Host.run(settings: settings) { host in
            func afterLog(_ text: String, times: Int) async throws -> Bool {
                while host.process.log().components(separatedBy: text).count <= times {
                    try await Task.sleep(for: .milliseconds(50))
                }
                return await host.letsIn(token)
            }
            #expect(await host.letsIn(token))
            try write("{")
            #expect(try await afterLog("keeping the old keys of the identity provider", times: 1))
            try write(#"{"keys": []}"#)
            #expect(try await !afterLog("its tokens are refused", times: 1))
            try write(key.publicKey.pemRepresentation)
            #expect(try await afterLog("reloaded the identity provider's keys", times: 1))
            try FileManager.default.removeItem(atPath: path)
            #expect(try await !afterLog("its tokens are refused", times: 2))
        }
    }

    @Test(arguments: [
        (["jwt_keys_file=/none", "jwt_issuer=a"], Int32(78), "cannot be read"),
        (["jwt_keys_file=/etc/hostname", "jwt_issuer=a"], 78, "neither a JSON Web Key Set"),
        (["jwt_keys_file=/dev/null", "jwt_issuer=a"], 78, "no key that verifies"),
        (["jwt_keys_keep=sometimes"], 64, "never, while-unreadable, always"),
        (["jwt_issuer=a"], 64, "belong together"), (["jwt_audience=a"], 64, "requires jwt_keys_file"),
    ])
    func `an identity provider that is half configured stops the start`(
        settings: [String],
        exitCode: Int32,
        text: String
    ) async throws {
        let folder = try TemporaryDirectory()
        let outcome = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["serve", "--data", folder.path + "/data", "--listen", "127.0.0.1:0"]
                + settings.flatMap { ["--set", $0] }
        )
        #expect(outcome.exitCode == exitCode)
        #expect(outcome.errors.contains(text), "\(outcome.errors)")
    }

    private static func token(
        of subject: String,
        signedWith key: P256.Signing.PrivateKey,
        seconds: Double
    ) throws -> String {
        let claims: [String: Any] = [
            "iss": "https://id.test", "sub": subject, "aud": Self.container,
            "exp": Date().timeIntervalSince1970 + seconds,
        ]
        func part(_ members: [String: Any]) throws -> String {
            Self.base64(try JSONSerialization.data(withJSONObject: members))
        }
        let text = try part(["alg": "ES256"]) + "." + part(claims)
        return text + "." + Self.base64(try key.signature(for: Data(text.utf8)).rawRepresentation)
    }

    private static func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}
