import CloudKit
import CloudKitTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct GettingStarted {
    @Test
    func `a program finds out whether it is signed in, saves a note and fetches it`() async throws {
        try await TestServer.run { server in
            let connection = try await server.connection(for: "alice")
            let identifier = TestServer.defaultContainerIdentifier
            let container = CKContainer(identifier: identifier, connection: connection)
            // <block> Connect from the environment
            switch try await container.accountStatus() {
            case .available: print("signed in")
            case .noAccount: print("no token, or the server refuses it")
            default: print("the server takes no connections now")
            }
            // </block>
            #expect(try await container.accountStatus() == .available)
            // <block> Save and fetch
            let database = container.privateCloudDatabase

            let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "first"))
            note["text"] = "Written on Linux"
            try await database.save(note)

            let fetched = try await database.record(for: note.recordID)
            print(fetched["text"] ?? "", fetched.modificationDate ?? .distantPast)
            // </block>
            #expect(fetched["text"] == "Written on Linux")
            #expect(fetched.modificationDate != nil)
        }
    }

    /// No server has this address: only what code says of a connection is under test.
    @Test
    func `a connection is described in code`() {
        // <block> Describe the connection in code
        var connection = CKServerConnection(url: "tidemark://records.example.org")
        connection.token = "the token that `tidemark user add` printed"
        connection.certificateAuthority = .file("/etc/tidemark/ca.pem")
        let container = CKContainer(identifier: "iCloud.org.example.notes", connection: connection)
        // </block>
        #expect(container.containerIdentifier == "iCloud.org.example.notes")
        #expect(connection.environment == .development)
    }

    @Test
    func `a closure supplies the tokens of an identity provider`() async throws {
        try await TestServer.run { server in
            let granted = try await server.connection(for: "alice")
            let identityProvider = IdentityProvider(token: try #require(granted.token))
            var connection = granted
            connection.token = nil
            // <block> Describe the connection in code
            connection.tokenProvider = .init { try await identityProvider.token() }
            // </block>
            let identifier = TestServer.defaultContainerIdentifier
            let container = CKContainer(identifier: identifier, connection: connection)
            #expect(try await container.accountStatus() == .available)
        }
    }
}

private struct IdentityProvider {
    let token: String

    func token() async throws -> String { self.token }
}
