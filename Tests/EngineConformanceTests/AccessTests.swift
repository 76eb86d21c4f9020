import RecordModel
import RecordStore
import StorageContract
import Testing

@testable import EngineConformance

/// The permissions of users (`Protocol/README.md`, section 5.6).
@Suite(.timeLimit(.minutes(10)))
struct AccessTests {
    private let denied = WriteOutcome.failed(.permissionDenied(.write))

    @Test(arguments: EngineKind.allCases)
    func `what is public is read by anybody and changed by its creator`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        let name = id("a", in: .default)
        let created = try await it.modify([save("a", in: .default, ["n": .int64(1)])], by: it.publicly)
        #expect(created[0].isSaved)
        for reader in [it.publicly, it.bobPublicly, it.anonymously] {
            #expect(try await it.record(name, by: reader)?["n"] == .int64(1))
        }
        let change = [save("a", in: .default, ["n": .int64(2)])]
        #expect(try await it.modify(change, policy: .changedKeys, by: it.bobPublicly) == [self.denied])
        #expect(try await it.modify([], deletes: [name], by: it.bobPublicly) == [self.denied])
        await #expect(throws: StoreError.notSignedIn) {
            try await it.modify([save("b", in: .default)], by: it.anonymously)
        }
        #expect(try await it.modify(change, policy: .changedKeys, by: it.publicly)[0].isSaved)
        #expect(try await it.modify([], deletes: [name], by: it.publicly) == [.deleted])
    }

    @Test(arguments: EngineKind.allCases)
    func `private databases do not meet, and the shared one has nothing of one's own`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        _ = try await it.modify([save("a", in: .default)])
        #expect(try await it.record(id("a", in: .default), by: it.bobPrivately) == nil)
        var shared = it.privately
        shared.scope = .shared
        shared.database = it.signIn.sharedDatabase!
        #expect(try await it.fetch([id("a", in: .default)], by: shared) == [.failed(.zoneMissing)])
        #expect(try await it.modify([save("a", in: .default)], by: shared) == [.failed(.zoneMissing)])
        let foreign = ZoneID(zoneName: ZoneID.defaultZoneName, ownerName: EngineUnderTest.alice)
        #expect(try await it.fetch([id("a", in: foreign)], by: it.bobPrivately) == [.failed(.zoneMissing)])
        #expect(try await it.record(id("a", in: foreign)) != nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `user records are there, are changed by their user, and are neither made nor deleted`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        let own = id(EngineUnderTest.alice, in: .default)
        for requester in [it.privately, it.publicly] {
            let record = try #require(try await it.record(own, by: requester))
            #expect(record.recordType == "Users")
            let change = RecordSave(
                id: own,
                recordType: "Users",
                changeTag: record.changeTag,
                changes: RecordBody([Field(name: "nick", value: .string("al"))])
            )
            #expect(try await it.modify([change], by: requester)[0].isSaved)
            #expect(try await it.modify([], deletes: [own], by: requester) == [self.denied])
        }
        let bobs = RecordSave(
            id: id(EngineUnderTest.bob, in: .default),
            recordType: "Users",
            changes: .empty
        )
        #expect(try await it.modify([bobs], policy: .changedKeys, by: it.publicly) == [self.denied])
        let reserved = [WriteOutcome.failed(.nameInvalid(.userRecord))]
        #expect(try await it.modify([bobs], policy: .changedKeys) == reserved)
        #expect(try await it.modify([save("a", in: .default, type: "Users")]) == reserved)
    }

    @Test(arguments: EngineKind.allCases)
    func `signing in finds the same databases again, and a revoked token finds none`(
        kind: EngineKind
    )
        async throws
    {
        let it = try EngineUnderTest(kind)
        let directory = it.store.directory
        let container = EngineUnderTest.container
        let token = EngineUnderTest.token(of: "alice")
        let commits = it.store.statistics.commits
        func signIn(_ token: [UInt8]?, to environment: Environment = .development) throws -> SignIn {
            try directory.signIn(container: container, environment: environment, tokenHash: token)
        }
        #expect(try signIn(token) == it.signIn)
        #expect(it.store.statistics.commits == commits)
        #expect(try signIn(nil).privateDatabase == nil)
        let production = try signIn(token, to: .production)
        #expect(production.privateDatabase != it.signIn.privateDatabase)
        #expect(production.publicDatabase != it.signIn.publicDatabase)
        #expect(throws: DirectoryError.tokenUnknown) { try signIn(EngineUnderTest.token(of: "eve")) }
        try directory.revokeUser(named: "alice", inContainer: container)
        #expect(throws: DirectoryError.tokenUnknown) { try signIn(token) }
        #expect(try directory.users(ofContainer: container).map(\.isRevoked) == [true, false])
        try directory.renewToken(ofUser: "alice", inContainer: container, tokenHash: token)
        #expect(try signIn(token) == it.signIn)
    }

    @Test(arguments: EngineKind.allCases)
    func `the directory says what is there already and what is missing`(kind: EngineKind) throws {
        let it = try EngineUnderTest(kind)
        let directory = it.store.directory
        let container = EngineUnderTest.container
        #expect(throws: DirectoryError.containerExists) { try directory.createContainer(container) }
        #expect(throws: DirectoryError.containerNameInvalid) { try directory.createContainer("0") }
        #expect(throws: DirectoryError.containerMissing) { try directory.users(ofContainer: "none") }
        #expect(throws: DirectoryError.containerMissing) {
            try directory.signIn(container: "none", environment: .development, tokenHash: nil)
        }
        #expect(throws: DirectoryError.userMissing) {
            try directory.revokeUser(named: "eve", inContainer: container)
        }
        #expect(throws: DirectoryError.userExists) {
            try directory.addUser(
                named: "bob",
                userRecordName: "_" + String(repeating: "c", count: 32),
                tokenHash: [UInt8](repeating: 9, count: 32),
                toContainer: container
            )
        }
        try directory.createContainer("a.first")
        #expect(try directory.containers() == ["a.first", container])
    }
}
