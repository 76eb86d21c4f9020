import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Two engines that have one store, as two processes would.
@Suite(.timeLimit(.minutes(10)))
struct BesideTests {
    @Test(arguments: EngineKind.allCases)
    func `two engines on the same files see what the other one does`(kind: EngineKind) async throws {
        let one = try await EngineUnderTest.withNotes(kind)
        let two = try one.beside()
        // Each has the counter, the zones and the fields in memory from here on.
        var tags: [String?] = []
        for (number, engine) in [one, two, one, two, two, one].enumerated() {
            tags.append(try await engine.modify([save("r\(number)", ["n": .int64(1)])])[0].tag)
        }
        let positions = tags.compactMap { $0.flatMap { Int64($0, radix: 36) } }
        #expect(positions.count == 6)
        #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 })
        #expect(try await two.modify([save("s", ["late": .string("x")])]).areSaved)
        let mismatch = try await one.modify([save("t", ["late": .int64(1)])])
        #expect(mismatch[0].error != nil)
        #expect(try await two.modifyZones([], deletes: ["notes"]) == [.deleted])
        #expect(try await one.modify([save("u")]) == [.failed(.zoneMissing)])
    }

    @Test(arguments: EngineKind.allCases)
    func `a token that another process revokes lets nobody in any more`(kind: EngineKind) async throws {
        let one = try EngineUnderTest(kind)
        let two = try one.beside()
        let container = EngineUnderTest.container
        func signIn() throws -> SignIn {
            try one.store.directory.signIn(
                container: container,
                environment: .development,
                tokenHash: EngineUnderTest.token(of: "alice")
            )
        }
        #expect(try signIn() == one.signIn)
        try two.store.directory.revokeUser(named: "alice", inContainer: container)
        #expect(throws: DirectoryError.tokenUnknown) { try signIn() }
        try two.store.directory.createContainer("org.example.other")
        #expect(try one.store.directory.containers() == ["org.example.other", container])
    }
}
