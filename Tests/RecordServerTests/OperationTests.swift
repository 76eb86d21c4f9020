import class Foundation.JSONDecoder
import struct Foundation.Data
import NIOCore
import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing
import WireProtocol

@testable import RecordServer

/// The table of operations in `Protocol/registry.json`, against the code and a server.
@Suite(.timeLimit(.minutes(10)))
struct OperationTests {
    private struct Registry: Decodable {
        struct Row: Decodable {
            let name: String
            let number: Int
            let mutating: Bool
            let request_id: Bool
            let codes: [UInt32]
        }

        let operation_codes: [UInt32]
        let operations: [Row]

        static func read() throws -> Registry {
            try JSONDecoder().decode(Registry.self, from: Data(ProtocolFiles.text("registry.json").utf8))
        }
    }

    private static let hash = [UInt8](repeating: 1, count: 32)

    /// One of each kind, about things that are not there.
    private static func sample(_ kind: OperationKind) -> Operation {
        let zone = ServerUnderTest.zone
        let id = RecordID(zone: zone, recordName: "absent")
        return switch kind {
        case .modifyRecords: .modifyRecords(ModifyRecords(scope: .private, saves: [], deletes: [id]))
        case .fetchRecords: .fetch(["absent"])
        case .modifyZones: .modifyZones(ModifyZones(scope: .private, saves: [zone]))
        case .fetchZones: .fetchZones(FetchZones(scope: .private, selection: .all))
        case .queryRecords:
            .queryRecords(QueryRecords(scope: .private, start: .query(Query(recordType: "Note"), zone: nil)))
        case .checkSchema:
            .checkSchema(CheckSchema(schema: "DEFINE SCHEMA RECORD TYPE Note ( title STRING );"))
        case .fetchChanges: .fetchChanges(FetchChanges(scope: .private, zone: zone))
        case .fetchDatabaseChanges: .fetchDatabaseChanges(FetchDatabaseChanges(scope: .private))
        case .fetchToken: .fetchToken(FetchToken(scope: .private, zone: zone))
        case .modifySubscriptions:
            .modifySubscriptions(ModifySubscriptions(scope: .private, saves: [], deletes: ["absent"]))
        case .fetchSubscriptions:
            .fetchSubscriptions(FetchSubscriptions(scope: .private, selection: .ids(["absent"])))
        case .listen: .listen
        case .uploadAssets:
            .uploadAssets(UploadAssets(scope: .private, assets: [Asset(sha256: Self.hash, size: 1)]))
        case .downloadAssets: .download([AssetRange(sha256: Self.hash)], of: "absent")
        case .acceptShares: .acceptShares(AcceptShares(tokens: ["absent"]))
        case .fetchShareMetadata: .fetchShareMetadata(FetchShareMetadata(tokens: ["absent"]))
        case .explainRecord: .explainRecord(ExplainRecord(scope: .private, id: id))
        case .fetchShareParticipants:
            .fetchShareParticipants(FetchShareParticipants(lookups: [.emailAddress("absent@example.org")]))
        case .requestShareAccess: .requestShareAccess(RequestShareAccess(tokens: ["absent"]))
        }
    }

    /// As it is encoded without a request ID: the tag of its field comes first.
    private static func payload(_ kind: OperationKind) -> ByteBuffer {
        Request(requestID: nil, deadlineMilliseconds: 0, operation: self.sample(kind)).encoded()
    }

    @Test
    func `the registry has the operations of the code, their fields, and which of them change something`()
        throws
    {
        let rows = try Registry.read().operations
        #expect(rows.map(\.name) == OperationKind.allCases.map(\.rawValue))
        for (row, kind) in zip(rows, OperationKind.allCases) {
            #expect(OperationKind(Self.sample(kind)) == kind)
            #expect(Self.sample(kind).isMutating == row.mutating, "\(row.name)")
            #expect(row.request_id == row.mutating, "\(row.name)")
            let bytes = Array(Self.payload(kind).readableBytesView.prefix(2))
            let tag = Int(bytes[0] & 0x7F) | Int(bytes[1]) << 7
            #expect(tag >> 3 == row.number, "\(row.name)")
        }
    }

    @Test func `an operation is refused without a request ID if it is mutating, and only then`() async throws
    {
        let registry = try Registry.read()
        try await ServerUnderTest.run { server in
            let peer = try await server.connect()
            let installation = [UInt8](repeating: 3, count: 16)
            try await peer.send(.hello(token: ServerUnderTest.token, installation: installation))
            #expect(await peer.next()?.kind == .welcome)
            for (index, kind) in OperationKind.allCases.enumerated() {
                let row = try #require(registry.operations.first { $0.name == kind.rawValue })
                let stream = UInt32(2 * index + 1)
                try await peer.send(Frame(kind: .request, stream: stream, payload: Self.payload(kind)))
                let failures = try await Self.failures(from: peer, on: stream)
                let isRefused = failures.contains { $0 == Failure(StoreError.requestIDMissing) }
                #expect(isRefused == row.mutating, "\(kind.rawValue): \(failures)")
                let codes = failures.map(\.code.rawValue)
                #expect(Set(row.codes + registry.operation_codes).isSuperset(of: codes), "\(kind.rawValue)")
            }
        }
    }

    @Test func `a mutating operation is executed with a request ID`() async throws {
        let registry = try Registry.read()
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            for (index, kind) in OperationKind.allCases.enumerated() where Self.sample(kind).isMutating {
                let row = try #require(registry.operations.first { $0.name == kind.rawValue })
                let stream = UInt32(2 * index + 1)
                try await peer.send(Self.sample(kind), on: stream)
                let answer = try await peer.answer(on: stream)
                #expect(answer.end.failure == nil && answer.items.count == 1, "\(kind.rawValue)")
                guard case .failure(let failure)? = answer.items.first?.outcome else { continue }
                #expect((row.codes + registry.operation_codes).contains(failure.code.rawValue))
            }
        }
    }

    /// Whether a key that may only read permits an operation, by its row of the registry.
    private static func isPermittedToReaders(_ row: Registry.Row) -> Bool {
        // Bytes of assets are no change that others see, and take room.
        !row.mutating && row.name != "upload_assets"
    }

    @Test(arguments: [false, true])
    func `a key that may only read is refused each operation that stores something`(
        onBehalfOfUser: Bool
    ) async throws {
        let registry = try Registry.read()
        try await ServerUnderTest.run { server in
            let service = TestService()
            try service.register(at: server, onBehalfOf: ["user"], isReadOnly: true)
            let (peer, _) = try await server.signIn(service, onBehalfOf: onBehalfOfUser ? "user" : "")
            let refusal = Failure.readOnlyKey(service.keyID)
            #expect(refusal.message.contains(service.keyID) && refusal.code == .permissionFailure)
            for (index, kind) in OperationKind.allCases.enumerated() {
                let row = try #require(registry.operations.first { $0.name == kind.rawValue })
                let stream = UInt32(2 * index + 1)
                try await peer.send(Self.sample(kind), on: stream)
                let failures = try await Self.failures(from: peer, on: stream)
                #expect(failures.contains(refusal) != Self.isPermittedToReaders(row), "\(kind.rawValue)")
                guard failures.contains(refusal) else { continue }
                #expect(row.codes.contains(refusal.code.rawValue), "\(kind.rawValue)")
            }
            let records = try server.store.directory.usage(ofContainer: ServerUnderTest.container)
            #expect(records.total.assets == 0)
        }
    }

    @Test(arguments: [false, true])
    func `every operation of a restricted user is refused`(byService: Bool) async throws {
        let registry = try Registry.read()
        try await ServerUnderTest.run { server in
            let directory = server.store.directory
            let service = TestService()
            try service.register(at: server, onBehalfOf: ["user"])
            try directory.setRestriction(true, ofUser: "user", inContainer: ServerUnderTest.container)
            let peer =
                byService
                ? try await server.signIn(service, onBehalfOf: "user").0 : try await server.signIn()
            for (index, kind) in OperationKind.allCases.enumerated() {
                let stream = UInt32(2 * index + 1)
                try await peer.send(Self.sample(kind), on: stream)
                let failures = try await Self.failures(from: peer, on: stream)
                #expect(failures == [.accountRestricted], "\(kind.rawValue)")
            }
            #expect(registry.operation_codes.contains(Failure.accountRestricted.code.rawValue))
            #expect(Failure.accountRestricted.retry == .afterChange)
            // The service itself is not the user, and neither is a client without a credential.
            let (shop, _) = try await server.signIn(service)
            for other in [shop, try await server.signIn(token: "")] {
                try await other.send(.fetchZones(FetchZones(scope: .public, selection: .all)), on: 1)
                #expect(try await other.answer(on: 1).end.failure == nil)
            }
        }
    }

    @Test func `another key of the same service writes, and both are listed`() async throws {
        try await ServerUnderTest.run { server in
            let (reader, writer) = (TestService(), TestService())
            try reader.register(at: server, isReadOnly: true)
            try writer.register(at: server)
            let (peer, _) = try await server.signIn(writer)
            try await peer.send(.publicSave("sale"), on: 1)
            #expect(try await peer.answer(on: 1).end.failure == nil)
            let (other, _) = try await server.signIn(reader)
            try await other.send(.publicSave("other"), on: 1)
            #expect(try await other.answer(on: 1).end.failure == .readOnlyKey(reader.keyID))
            let keys = try server.store.directory.serviceKeys(ofContainer: ServerUnderTest.container)
            let readers = keys.filter(\.isReadOnly).map(\.keyID)
            #expect(readers == [reader.keyID] && keys.count == 2)
        }
    }

    /// What failed of an answer, whole or in part, up to its end, or to where an upload waits for bytes.
    private static func failures(from peer: TestPeer, on stream: UInt32) async throws -> [Failure] {
        var failures: [Failure] = []
        while let frame = await peer.next() {
            guard frame.stream == stream else { continue }
            switch frame.kind {
            case .items:
                for item in try Items(decoding: frame.payload).items {
                    if case .failure(let failure) = item.outcome { failures.append(failure) }
                }
            case .end:
                return try failures + [End(decoding: frame.payload).failure].compactMap(\.self)
            case .assetOffsets:
                return failures
            default:
                continue
            }
        }
        throw UnexpectedFrame(frame: nil)
    }
}
