import RecordModel
import RecordStore
import StorageContract
import Testing

@testable import EngineConformance

/// Security roles of the public database (`Protocol/README.md`, section 5.6).
@Suite(.timeLimit(.minutes(10)))
struct RoleTests {
    private static let container = EngineUnderTest.container
    private let created = StoreError.permissionDenied(.create)
    private let written = StoreError.permissionDenied(.write)
    private let read = StoreError.permissionDenied(.read)

    /// A type `Note` with these grants and roles.
    private func engine(_ kind: EngineKind, _ grants: String, roles: [String] = []) throws -> EngineUnderTest
    {
        let it = try EngineUnderTest(kind)
        try self.replace(it, grants, roles: roles)
        return it
    }

    private func replace(_ it: EngineUnderTest, _ grants: String, roles: [String] = []) throws {
        let roles = roles.map { "CREATE ROLE \($0);" }.joined()
        let document = try SchemaParser.parse("DEFINE SCHEMA \(roles) RECORD TYPE Note (n INT64 \(grants));")
        try it.store.schemas.apply(.replaceDevelopment(document), inContainer: Self.container)
    }

    private func setRole(_ it: EngineUnderTest, _ role: String, of user: String, _ isGiven: Bool) throws {
        try it.store.schemas.setRole(
            role,
            ofUser: user,
            isGiven: isGiven,
            inContainer: Self.container,
            environment: .development
        )
    }

    private func save(
        _ it: EngineUnderTest,
        _ name: String,
        by requester: Requester
    ) async throws -> StoreError? {
        let save = EngineConformance.save(name, in: .default, ["n": .int64(1)])
        return try await it.modify([save], policy: .changedKeys, by: requester)[0].error
    }

    private func delete(
        _ it: EngineUnderTest,
        _ name: String,
        by requester: Requester
    ) async throws -> StoreError? {
        try await it.modify([], deletes: [id(name, in: .default)], by: requester)[0].error
    }

    private func fetch(
        _ it: EngineUnderTest,
        _ name: String,
        by requester: Requester
    ) async throws -> StoreError? {
        guard case .failed(let error) = try await it.fetch([id(name, in: .default)], by: requester)[0] else {
            return nil
        }
        return error
    }

    @Test(arguments: EngineKind.allCases)
    func `a type without grants is nobody's in the public database, and its user's in the private one`(
        kind: EngineKind
    ) async throws {
        let it = try self.engine(kind, ", GRANT READ, CREATE, WRITE TO \"_world\"")
        #expect(try await self.save(it, "a", by: it.publicly) == nil)
        try self.replace(it, "")
        #expect(try await self.save(it, "b", by: it.publicly) == self.created)
        #expect(try await self.save(it, "a", by: it.publicly) == self.written)
        #expect(try await self.delete(it, "a", by: it.publicly) == self.written)
        #expect(try await self.fetch(it, "a", by: it.publicly) == self.read)
        #expect(try await self.fetch(it, "absent", by: it.publicly) == .recordMissing)
        #expect(try await self.save(it, "a", by: it.privately) == nil)
        #expect(try await self.fetch(it, "a", by: it.privately) == nil)
        #expect(try await self.delete(it, "a", by: it.privately) == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `everybody, whoever is signed in and the creator are told apart`(kind: EngineKind) async throws {
        let it = try self.engine(
            kind,
            ", GRANT CREATE TO \"_icloud\", GRANT READ, WRITE TO \"_creator\""
        )
        #expect(try await self.save(it, "a", by: it.publicly) == nil)
        #expect(try await self.fetch(it, "a", by: it.publicly) == nil)
        #expect(try await self.fetch(it, "a", by: it.bobPublicly) == self.read)
        #expect(try await self.fetch(it, "a", by: it.anonymously) == self.read)
        #expect(try await self.save(it, "a", by: it.bobPublicly) == self.written)
        #expect(try await self.save(it, "a", by: it.publicly) == nil)
        try self.replace(it, ", GRANT READ, WRITE TO \"_icloud\"")
        #expect(try await self.fetch(it, "a", by: it.bobPublicly) == nil)
        #expect(try await self.fetch(it, "a", by: it.anonymously) == self.read)
        #expect(try await self.save(it, "a", by: it.bobPublicly) == nil)
        #expect(try await self.save(it, "b", by: it.bobPublicly) == self.created)
        try self.replace(it, ", GRANT READ, WRITE, CREATE TO \"_world\", GRANT CREATE TO \"_creator\"")
        #expect(try await self.fetch(it, "a", by: it.anonymously) == nil)
        // Changes need somebody to put their name to them.
        await #expect(throws: StoreError.notSignedIn) { try await self.save(it, "a", by: it.anonymously) }
        #expect(try await self.delete(it, "a", by: it.bobPublicly) == nil)
        try self.replace(it, ", GRANT CREATE TO \"_creator\"")
        #expect(try await self.save(it, "c", by: it.publicly) == self.created)
    }

    @Test(arguments: EngineKind.allCases)
    func `a role counts from the next request on, and so does its loss`(kind: EngineKind) async throws {
        let it = try self.engine(
            kind,
            ", GRANT READ, CREATE, WRITE TO editor, GRANT READ TO reader",
            roles: ["editor", "reader"]
        )
        // As the command line does, beside a server that has everything in memory.
        let other = try it.beside()
        func all(_ requester: Requester) async throws -> [StoreError?] {
            [
                try await self.save(it, "a", by: requester), try await self.save(it, "a", by: requester),
                try await self.fetch(it, "a", by: requester),
            ]
        }
        #expect(try await all(it.publicly) == [self.created, self.created, .recordMissing])
        for engine in [it, other] {
            try self.setRole(engine, "editor", of: "alice", true)
            #expect(try await all(it.publicly) == [nil, nil, nil])
            #expect(try await all(it.bobPublicly) == [self.written, self.written, self.read])
            try self.setRole(engine, "reader", of: "bob", true)
            try self.setRole(engine, "reader", of: "bob", true)
            #expect(try await all(it.bobPublicly) == [self.written, self.written, nil])
            try self.setRole(engine, "editor", of: "alice", false)
            #expect(try await all(it.publicly) == [self.written, self.written, self.read])
            try self.setRole(engine, "reader", of: "bob", false)
            #expect(try await self.fetch(it, "a", by: it.bobPublicly) == self.read)
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `roles are given to users there are, and go with the schema's`(kind: EngineKind) async throws {
        let it = try self.engine(kind, ", GRANT CREATE TO r", roles: ["r", "s"])
        let schemas = it.store.schemas
        func roles(_ environment: Environment = .development) throws -> [String] {
            try schemas.roles(ofUser: "alice", inContainer: Self.container, environment: environment)
        }
        #expect(throws: SchemaStoreError.roleMissing) { try self.setRole(it, "none", of: "alice", true) }
        #expect(throws: SchemaStoreError.userMissing) { try self.setRole(it, "r", of: "eve", true) }
        for role in ["s", "r"] { try self.setRole(it, role, of: "alice", true) }
        #expect(try roles() == ["r", "s"])
        // A role that is made again is another, even where an engine gives it the number of the one before.
        try self.replace(it, ", GRANT CREATE TO r", roles: ["r"])
        try self.replace(it, ", GRANT CREATE TO r", roles: ["r", "s"])
        #expect(try roles() == ["r"])
        try schemas.apply(.deploy, inContainer: Self.container)
        // A role is given in one environment, and deploying gives nobody any.
        #expect(try roles(.production).isEmpty)
        let production = try it.requester(in: .production, scope: .public)
        #expect(try await self.save(it, "a", by: it.publicly) == nil)
        #expect(try await self.save(it, "a", by: production) == self.created)
    }

    @Test(arguments: EngineKind.allCases)
    func `who may not read a record is not told it by a conflict`(kind: EngineKind) async throws {
        let it = try self.engine(kind, ", GRANT CREATE, WRITE TO \"_icloud\"")
        #expect(try await self.save(it, "a", by: it.publicly) == nil)
        let again = EngineConformance.save("a", in: .default)
        #expect(try await it.modify([again], by: it.publicly)[0].error == self.read)
        try self.replace(it, ", GRANT CREATE, WRITE TO \"_icloud\", GRANT READ TO \"_creator\"")
        guard case .recordExists = try await it.modify([again], by: it.publicly)[0].error else {
            Issue.record("the creator may read it")
            return
        }
        #expect(try await it.modify([again], by: it.bobPublicly)[0].error == self.read)
    }

    @Test(arguments: EngineKind.allCases)
    func `the roles of a user record are the server's, and who reads it the schema's`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        let own = id(EngineUnderTest.alice, in: .default)
        func change(_ field: String, _ value: FieldValue) -> RecordSave {
            RecordSave(id: own, recordType: "Users", changes: RecordBody([Field(name: field, value: value)]))
        }
        for requester in [it.publicly, it.privately] {
            for value in [FieldValue.int64List([1]), .emptyList, .clear, .string("editor")] {
                let outcome = try await it.modify(
                    [change("roles", value)],
                    policy: .changedKeys,
                    by: requester
                )
                #expect(outcome[0].error == self.written)
            }
            let nick = try await it.modify(
                [change("nick", .string("al"))],
                policy: .changedKeys,
                by: requester
            )
            #expect(nick.areSaved)
        }
        #expect(try await it.record(own, by: it.anonymously) != nil)
        let text = "DEFINE SCHEMA RECORD TYPE Users (nick STRING, GRANT READ TO \"_creator\");"
        let document = try SchemaParser.parse(text)
        try it.store.schemas.apply(.replaceDevelopment(document), inContainer: Self.container)
        #expect(try await it.record(own, by: it.publicly) != nil)
        #expect(try await it.record(own, by: it.bobPublicly) == nil)
        #expect(
            try await it.modify([change("nick", .string("x"))], policy: .changedKeys, by: it.publicly)[0]
                .error == self.written
        )
    }

    @Test func `a query finds what a fetch would give`() {
        func requester(_ user: String?, _ scope: DatabaseScope = .public) -> Requester {
            Requester(
                database: DatabaseID(rawValue: 1),
                scope: scope,
                environment: EnvironmentID(rawValue: 1),
                userRecordName: user
            )
        }
        func rule(_ grants: [Grant], _ requester: Requester, roles: Set<String> = []) -> ReadRule {
            Access.readRule(grants: grants, roles: roles, requester: requester)
        }
        let (alice, nobody) = (requester("_a"), requester(nil))
        #expect(rule(SchemaRules.defaultGrants, nobody) == .all)
        #expect(rule([], alice) == .none)
        #expect(rule([], requester("_a", .private)) == .all)
        #expect(rule(SchemaRules.defaultGrants, requester("_a", .shared)) == .none)
        let own = [Grant(role: "_creator", permissions: .read)]
        #expect(rule(own, alice) == .own(creator: "_a"))
        #expect(rule(own, nobody) == .none)
        let custom = own + [Grant(role: "r", permissions: [.read, .write])]
        #expect(rule(custom, alice, roles: ["r"]) == .all)
        #expect(rule(custom, alice, roles: ["s"]) == .own(creator: "_a"))
        #expect(rule(custom, nobody, roles: ["r"]) == .none)
        #expect(rule([Grant(role: "_icloud", permissions: [.write, .create])], alice) == .none)
        #expect(rule([Grant(role: "_icloud", permissions: .read)], alice) == .all)
        #expect(rule([Grant(role: "_icloud", permissions: .read)], nobody) == .none)
    }
}
