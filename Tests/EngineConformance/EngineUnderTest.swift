import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

/// An engine with a container and two users, and short words for what tests do with it.
final class EngineUnderTest: Sendable {
    static let container = "org.example.tests"
    static let alice = "_00000000000000000000000000000a11"
    static let bob = "_00000000000000000000000000000b0b"

    let kind: EngineKind
    let folder: TemporaryDirectory
    let clock: ManualClock
    let store: Store
    let signIn: SignIn
    let bobSignIn: SignIn
    private let generator: Mutex<SeededGenerator>

    init(
        _ kind: EngineKind,
        configure: (inout EngineSettings) -> Void = { _ in },
        report: @escaping @Sendable (EngineEvent) -> Void = { _ in }
    ) throws {
        self.kind = kind
        self.folder = try TemporaryDirectory()
        self.clock = ManualClock()
        self.generator = Mutex(SeededGenerator(seed: 1))
        self.store = try kind.open(
            in: self.folder.path,
            clock: self.clock,
            configure: configure,
            report: report
        )
        let directory = self.store.directory
        try directory.createContainer(Self.container)
        for (name, recordName) in [("alice", Self.alice), ("bob", Self.bob)] {
            try directory.addUser(
                named: name,
                userRecordName: recordName,
                tokenHash: Self.token(of: name),
                toContainer: Self.container
            )
        }
        self.signIn = try Self.signIn("alice", directory)
        self.bobSignIn = try Self.signIn("bob", directory)
    }

    /// With the zone that most tests work in.
    static func withNotes(
        _ kind: EngineKind,
        configure: (inout EngineSettings) -> Void = { _ in }
    ) async throws -> EngineUnderTest {
        let it = try EngineUnderTest(kind, configure: configure)
        _ = try await it.modifyZones(["notes"])
        return it
    }

    /// On files that an earlier test or version left, which know the container and the users.
    init(
        _ kind: EngineKind,
        openingFilesIn folder: TemporaryDirectory,
        clock: ManualClock = ManualClock(),
        configure: (inout EngineSettings) -> Void = { _ in }
    ) throws {
        self.kind = kind
        self.folder = folder
        self.clock = clock
        self.generator = Mutex(SeededGenerator(seed: 2))
        self.store = try kind.open(in: folder.path, clock: self.clock, configure: configure)
        self.signIn = try Self.signIn("alice", self.store.directory)
        self.bobSignIn = try Self.signIn("bob", self.store.directory)
    }

    private convenience init(reopening other: EngineUnderTest, _ store: Store) throws {
        let signIns = try ["alice", "bob"].map { try Self.signIn($0, store.directory) }
        self.init(reopening: other, store, signIns[0], signIns[1])
    }

    private init(reopening other: EngineUnderTest, _ store: Store, _ signIn: SignIn, _ bobSignIn: SignIn) {
        self.kind = other.kind
        self.folder = other.folder
        self.clock = other.clock
        // Other request IDs than before, or the requests would be replays.
        self.generator = Mutex(SeededGenerator(seed: other.generator.withLock { $0.next() }))
        self.store = store
        self.signIn = signIn
        self.bobSignIn = bobSignIn
    }

    /// Closes the engine and opens another on the same files.
    func reopened(configure: (inout EngineSettings) -> Void = { _ in }) async throws -> EngineUnderTest {
        await self.store.shutdown()
        let store = try self.kind.open(in: self.folder.path, clock: self.clock, configure: configure)
        return try EngineUnderTest(reopening: self, store)
    }

    /// The same while nobody can sign in.
    func reopenedUnasked() async throws -> EngineUnderTest {
        await self.store.shutdown()
        let store = try self.kind.open(in: self.folder.path, clock: self.clock)
        return EngineUnderTest(reopening: self, store, self.signIn, self.bobSignIn)
    }

    /// Another engine on the same files, as another process would have.
    func beside(configure: (inout EngineSettings) -> Void = { _ in }) throws -> EngineUnderTest {
        let store = try self.kind.open(in: self.folder.path, clock: self.clock, configure: configure)
        return try EngineUnderTest(reopening: self, store)
    }

    static func token(of name: String) -> [UInt8] {
        var token = [UInt8](repeating: 0, count: 32)
        for (index, byte) in name.utf8.enumerated() { token[index] = byte }
        return token
    }

    private static func signIn(_ name: String, _ directory: Directory) throws -> SignIn {
        try directory.signIn(
            container: self.container,
            environment: .development,
            tokenHash: self.token(of: name)
        )
    }

    // MARK: Requesters

    var privately: Requester { Self.requester(self.signIn, .private, self.signIn.privateDatabase!) }
    var publicly: Requester { Self.requester(self.signIn, .public, self.signIn.publicDatabase) }
    var bobPublicly: Requester { Self.requester(self.bobSignIn, .public, self.bobSignIn.publicDatabase) }
    var bobPrivately: Requester { Self.requester(self.bobSignIn, .private, self.bobSignIn.privateDatabase!) }
    var anonymously: Requester {
        var requester = self.publicly
        requester.userRecordName = nil
        return requester
    }

    /// Alice in another environment.
    func requester(in environment: Environment, scope: DatabaseScope = .private) throws -> Requester {
        let signIn = try self.store.directory.signIn(
            container: Self.container,
            environment: environment,
            tokenHash: Self.token(of: "alice")
        )
        let database = scope == .public ? signIn.publicDatabase : signIn.privateDatabase!
        return Self.requester(signIn, scope, database)
    }

    private static func requester(
        _ signIn: SignIn,
        _ scope: DatabaseScope,
        _ database: DatabaseID
    ) -> Requester {
        Requester(
            database: database,
            scope: scope,
            environment: signIn.environment,
            userRecordName: signIn.userRecordName
        )
    }

    // MARK: Requests

    func newRequestID(millisecondsAgo: Int64 = 0) -> RequestID {
        self.generator.withLock {
            RequestID(milliseconds: self.clock.milliseconds - millisecondsAgo, using: &$0)
        }
    }

    func request(
        _ operation: WriteRequest.Operation,
        by requester: Requester? = nil,
        id: RequestID? = nil,
        deadline: Int64 = .max,
        bytes: Int = 100,
        origin: ChangeOrigin? = nil
    ) -> WriteRequest {
        WriteRequest(
            requester: requester ?? self.privately,
            requestID: id ?? self.newRequestID(),
            operation: operation,
            bytes: bytes,
            deadlineMilliseconds: deadline,
            origin: origin
        )
    }

    func write(
        _ operation: WriteRequest.Operation,
        by requester: Requester? = nil,
        id: RequestID? = nil,
        deadline: Int64 = .max,
        bytes: Int = 100,
        origin: ChangeOrigin? = nil
    ) async -> Result<[WriteOutcome], StoreError> {
        let request = self.request(
            operation,
            by: requester,
            id: id,
            deadline: deadline,
            bytes: bytes,
            origin: origin
        )
        return await withCheckedContinuation { continuation in
            self.store.write(request) { continuation.resume(returning: $0) }
        }
    }

    func send(
        _ saves: [RecordSave],
        policy: ModifyRecords.Policy = .ifServerRecordUnchanged,
        bytes: Int = 100,
        _ reply: @escaping @Sendable (Result<[WriteOutcome], StoreError>) -> Void
    ) {
        let operation = ModifyRecords(scope: .private, saves: saves, policy: policy)
        let request = self.request(.modifyRecords(operation), bytes: bytes)
        self.store.write(request, reply: reply)
    }

    func modify(
        _ saves: [RecordSave],
        deletes: [RecordID] = [],
        policy: ModifyRecords.Policy = .ifServerRecordUnchanged,
        isAtomic: Bool = true,
        by requester: Requester? = nil,
        id: RequestID? = nil
    ) async throws(StoreError) -> [WriteOutcome] {
        let scope = (requester ?? self.privately).scope
        let operation = ModifyRecords(
            scope: scope,
            saves: saves,
            deletes: deletes,
            policy: policy,
            isAtomic: isAtomic
        )
        return try await self.write(.modifyRecords(operation), by: requester, id: id).get()
    }

    func modifyZones(
        _ saves: [String],
        deletes: [String] = [],
        by requester: Requester? = nil,
        id: RequestID? = nil
    ) async throws(StoreError) -> [WriteOutcome] {
        let operation = ModifyZones(
            scope: (requester ?? self.privately).scope,
            saves: saves.map { ZoneID(zoneName: $0) },
            deletes: deletes.map { ZoneID(zoneName: $0) }
        )
        return try await self.write(.modifyZones(operation), by: requester, id: id).get()
    }

    func fetch(
        _ ids: [RecordID],
        desiredKeys: [String]? = nil,
        by requester: Requester? = nil
    ) async throws(StoreError) -> [ReadOutcome] {
        let result = await withCheckedContinuation { continuation in
            self.store.fetchRecords(ids, desiredKeys: desiredKeys, for: requester ?? self.privately) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()
    }

    func query(
        _ read: QueryRead,
        by requester: Requester? = nil
    ) async throws(StoreError) -> FoundPage {
        let sink = KeptRecords()
        let result = await withCheckedContinuation { continuation in
            self.store.query(read, for: requester ?? self.privately, into: sink) {
                continuation.resume(returning: $0)
            }
        }
        return FoundPage(page: try result.get(), records: sink.records.withLock { $0 })
    }

    /// The record, or `nil` when it is absent.
    func record(_ id: RecordID, by requester: Requester? = nil) async throws -> Record? {
        guard case .record(let record) = try await self.fetch([id], by: requester)[0] else { return nil }
        return record
    }

    func zones(
        _ selection: FetchZones.Selection = .all,
        by requester: Requester? = nil
    ) async throws
        -> [ReadOutcome]
    {
        let result = await withCheckedContinuation { continuation in
            self.store.fetchZones(selection, for: requester ?? self.privately) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()
    }

    func explanation(
        of id: RecordID,
        by requester: Requester? = nil
    ) async throws(StoreError) -> RecordExplanation {
        let result = await withCheckedContinuation { continuation in
            self.store.explain(id, for: requester ?? self.privately) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}
