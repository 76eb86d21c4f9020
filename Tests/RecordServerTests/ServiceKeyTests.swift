import Crypto
import RecordModel
import RecordStore
import SQLiteEngine
import Testing
import WireProtocol

@testable import RecordServer

/// Services: section 3.2 of the specification.
@Suite(.timeLimit(.minutes(10)))
struct ServiceKeyTests {
    private static let denied = CloseReason.notAuthenticated

    @Test func `a service that signs the challenge is a user of the public database alone`() async throws {
        try await ServerUnderTest.run { server in
            let service = TestService()
            try service.register(at: server)
            let (peer, welcome) = try await server.signIn(service)
            let key = try #require(
                try server.store.directory.serviceKeys(ofContainer: ServerUnderTest.container).first
            )
            #expect(welcome.userRecordName == key.userRecordName)

            try await peer.send(.publicSave("sale"), on: 1)
            let saved = try await peer.answer(on: 1)
            guard case .recordSaved(let record)? = saved.items.first?.outcome else {
                Issue.record("\(saved)")
                return
            }
            #expect(record.system.createdBy == key.userRecordName)
            try await peer.send(.fetchZones(FetchZones(scope: .private, selection: .all)), on: 3)
            #expect(try await peer.answer(on: 3).end.failure?.code == .permissionFailure)
            // Again with the same key, and with another: the same user.
            #expect(try await server.signIn(service).1.userRecordName == key.userRecordName)
            let second = TestService()
            try second.register(at: server)
            #expect(try await server.signIn(second).1.userRecordName == key.userRecordName)
        }
    }

    @Test func `on behalf of a user a service is that user, if its key may`() async throws {
        try await ServerUnderTest.run { server in
            let (service, other) = (TestService(), TestService())
            try service.register(at: server, onBehalfOf: ["user"])
            try other.register(at: server)
            let (peer, welcome) = try await server.signIn(service, onBehalfOf: "user")
            #expect(welcome.userRecordName == ServerUnderTest.userRecordName)
            try await peer.send(.fetchZones(FetchZones(scope: .private, selection: .all)), on: 1)
            #expect(try await peer.answer(on: 1).items.count == 1)
            #expect(try await server.refusal(of: other, onBehalfOf: "user") == Self.denied)
            #expect(try await server.refusal(of: service, onBehalfOf: "nobody") == Self.denied)
            // A user who was revoked is nobody's to act for.
            try server.store.directory.revokeUser(named: "user", inContainer: ServerUnderTest.container)
            #expect(try await peer.refusal() == Self.denied)
            #expect(try await server.refusal(of: service, onBehalfOf: "user") == Self.denied)
        }
    }

    @Test func `a proof is good for its challenge, server, container, environment and user alone`()
        async throws
    {
        try await ServerUnderTest.run { server in
            let service = TestService()
            try service.register(at: server, onBehalfOf: ["user"])
            let hello = service.hello()
            let (first, nonce) = try await server.challenged(hello)
            let hash = try await first.certificateHash()
            let proof = try service.proof(nonce, hello, certificateHash: hash)
            try await first.send(proof)
            _ = try await first.welcome()

            func answer(_ signed: (_ nonce: [UInt8]) throws -> Frame) async throws -> CloseReason {
                let (peer, nonce) = try await server.challenged(hello)
                try await peer.send(try signed(nonce))
                return try await peer.refusal()
            }
            // The very bytes that were good a moment ago.
            #expect(try await answer { _ in proof } == Self.denied)
            #expect(
                try await answer {
                    try service.proof($0, hello, certificateHash: Array(repeating: 1, count: 32))
                }
                    == Self.denied
            )
            for wrong in [
                service.hello(onBehalfOf: "user"), service.hello(container: "iCloud.other"),
                service.hello(environment: .production),
            ] {
                #expect(
                    try await answer { try service.proof($0, wrong, certificateHash: hash) } == Self.denied
                )
            }
            let stranger = TestService()
            #expect(try await answer { try stranger.proof($0, hello, certificateHash: hash) } == Self.denied)
            for byte in [0, 255] as [UInt8] {
                let garbage = Proof(signature: Array(repeating: byte, count: 64)).encoded()
                #expect(try await answer { _ in Frame(kind: .proof, payload: garbage) } == Self.denied)
            }
        }
    }

    @Test func `challenges differ, and come whether or not there is such a key`() async throws {
        try await ServerUnderTest.run { server in
            let stranger = TestService()
            var nonces: Set<[UInt8]> = []
            for _ in 0..<4 { nonces.insert(try await server.challenged(stranger.hello()).nonce) }
            #expect(nonces.count == 4)
            #expect(try await server.refusal(of: stranger) == Self.denied)
            #expect(server.log.complaints.count == 1)
        }
    }

    @Test func `a proof that nobody asked for ends the connection, and so does a second one`() async throws {
        try await ServerUnderTest.run { server in
            let service = TestService()
            try service.register(at: server)
            let proof = Frame(
                kind: .proof,
                payload: Proof(signature: Array(repeating: 1, count: 64)).encoded()
            )
            let early = try await server.connect()
            try await early.send(proof)
            #expect(try await early.refusal() == .requestBeforeHello)
            let late = try await server.signIn()
            try await late.send(proof)
            #expect(try await late.refusal() == .frameKindUnexpected)
            let (twice, _) = try await server.challenged(service.hello())
            try await twice.send([proof, proof])
            #expect(try await twice.refusal() == .frameKindUnexpected)
            let (other, _) = try await server.challenged(service.hello())
            try await other.send(.request(.fetch(["0"]), on: 1))
            #expect(try await other.refusal() == .requestBeforeHello)
        }
    }
}

extension ServerUnderTest {
    /// How a service that signs as it should is turned away.
    fileprivate func refusal(
        of service: TestService,
        onBehalfOf user: String = ""
    ) async throws -> CloseReason {
        let hello = service.hello(onBehalfOf: user)
        let (peer, nonce) = try await self.challenged(hello)
        try await peer.send(service.proof(nonce, hello, certificateHash: peer.certificateHash()))
        return try await peer.refusal()
    }
}

extension Operation {
    static func publicSave(_ name: String) -> Operation {
        let body = RecordBody([Field(name: "value", value: .string(name))])
        let id = RecordID(zone: .default, recordName: name)
        return .modifyRecords(
            ModifyRecords(scope: .public, saves: [RecordSave(id: id, recordType: "Note", changes: body)])
        )
    }
}
