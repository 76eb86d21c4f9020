import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// What an operator must change is told as such, and not as a network's failure that passes.
@Suite(.timeLimit(.minutes(10))) struct WrongSetupTests {
    /// What a container whose connection was changed says, also to work that would wait for a network.
    private func refusals(
        _ change: (inout CKServerConnection) throws -> Void,
        container: String = TestServer.defaultContainerIdentifier
    ) async throws -> [CKError] {
        try await TestServer.run { server in
            var connection = try await server.connection(for: "alice")
            try change(&connection)
            let wrong = CKContainer(identifier: container, connection: connection)
            let patient = CKOperation.Configuration()
            patient.qualityOfService = .utility
            let database = wrong.privateCloudDatabase
            let first = await thrown { _ = try await database.allRecordZones() }
            let second = await database.configuredWith(configuration: patient) { database in
                await thrown { _ = try await database.allRecordZones() }
            }
            return [first, second].compactMap { $0 }
        }
    }

    @Test func `an authority that did not sign, and a file that is none, are badContainer for good`()
        async throws
    {
        let none = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pem").path
        defer { try? FileManager.default.removeItem(atPath: none) }
        try "no certificate".write(toFile: none, atomically: true, encoding: .utf8)
        let other = try await self.otherAuthority()
        let cases: [(CKServerConnection.CertificateAuthority, String)] = [
            (.pem(other), "is not signed by an authority"), (.file(none), "has no certificate in PEM"),
            (.file("/nonexistent.pem"), "cannot be read: No such file"),
        ]
        for (authority, text) in cases {
            let errors = try await self.refusals { $0.certificateAuthority = authority }
            #expect(errors.map(\.code) == [.badContainer, .badContainer])
            #expect(errors.allSatisfy { $0.retryAdvice == .never && $0.localizedDescription.contains(text) })
        }
    }

    /// A certificate authority of another server.
    private func otherAuthority() async throws -> String {
        try await TestServer.run { server in
            guard case .pem(let authority) = try await server.connection(for: "alice").certificateAuthority
            else {
                Issue.record("a test server's authority is text")
                return ""
            }
            return authority
        }
    }

    @Test func `a token that is wrong, and one that can't be any, end for good`() async throws {
        let wrong = try await self.refusals { $0.token = "wrong" }
        #expect(wrong.map(\.code) == [.notAuthenticated, .notAuthenticated])
        let cut = try await self.refusals { $0.token = "two words" }
        #expect(cut.map(\.code) == [.badContainer, .badContainer])
        #expect((wrong + cut).allSatisfy { $0.retryAdvice == .never })
    }

    @Test func `a private database without a token names the variable that has it`() async throws {
        let errors = try await self.refusals { $0.token = nil }
        #expect(errors.count == 2)
        for error in errors {
            #expect(error.code == .notAuthenticated)
            #expect(error.localizedDescription.contains("set TIDEMARK_TOKEN to a user's access token"))
        }
    }

    @Test func `a container that is not there is named, with its server and the command that makes it`()
        async throws
    {
        let errors = try await self.refusals({ $0.token = nil }, container: "iCloud.org.example.typo")
        #expect(!errors.isEmpty && errors.allSatisfy { $0.code == .badContainer && $0.retryAdvice == .never })
        for error in errors {
            let text = error.localizedDescription
            #expect(
                text.contains("tidemark container create iCloud.org.example.typo")
                    && text.contains(" at localhost:")
            )
        }
    }
}
