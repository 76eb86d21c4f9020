import Administration
import RecordModel
import RecordServer
import RecordStore
import StorageContract
import Testing

/// Users, services and their rights, as an operator changes them.
@Suite(.timeLimit(.minutes(1)))
struct AccountTests {
    private static let container = OpenedStore.container

    private func hasSignedIn(_ token: AccessToken, _ opened: OpenedStore) -> Bool {
        let signIn = try? opened.store.directory.signIn(
            container: Self.container,
            environment: .development,
            tokenHash: token.hash
        )
        return signIn != nil
    }

    @Test
    func `a token is valid until another takes its place`() async throws {
        try await OpenedStore.run { opened in
            let user = opened.user("alice")
            let (recordName, first) = try user.add()
            #expect(try opened.administered.users().map(\.userRecordName) == [recordName])
            #expect(self.hasSignedIn(first, opened))
            let second = try user.rotate(overlapSeconds: 60)
            #expect(self.hasSignedIn(first, opened) && self.hasSignedIn(second, opened))
            let third = try user.renew()
            #expect(!self.hasSignedIn(second, opened) && self.hasSignedIn(third, opened))
            try user.revoke()
            #expect(!self.hasSignedIn(third, opened))
        }
    }

    @Test
    func `an error names the user and the container`() async throws {
        try await OpenedStore.run { opened in
            _ = try opened.user("alice").add()
            #expect(
                throws: AdministrationError.directory(.userExists, container: Self.container, user: "alice")
            ) {
                try opened.user("alice").add()
            }
            #expect(
                throws: AdministrationError.directory(.userMissing, container: Self.container, user: "bob")
            ) {
                try opened.user("bob").restrict(true)
            }
            let absent = AdministeredContainer("absent", in: opened.store)
            #expect(throws: AdministrationError.directory(.containerMissing, container: "absent")) {
                try absent.users()
            }
        }
    }

    @Test
    func `an error of a role names the role`() async throws {
        try await OpenedStore.run { opened in
            let user = opened.user("alice")
            _ = try user.add()
            let missing = AdministrationError.schema(
                .roleMissing,
                container: Self.container,
                user: "alice",
                role: "editor"
            )
            #expect(throws: missing) { try user.setRole("editor", isGiven: true, in: .development) }
            let schema = try SchemaParser.parse(Array("DEFINE SCHEMA\nCREATE ROLE editor;\n".utf8))
            #expect(try !opened.administered.preview(.replaceDevelopment(schema)).isEmpty)
            try opened.administered.change(.replaceDevelopment(schema))
            try user.setRole("editor", isGiven: true, in: .development)
            #expect(try user.roles(in: .development) == ["editor"])
            try user.setRole("editor", isGiven: false, in: .development)
            #expect(try user.roles(in: .development).isEmpty)
            #expect(try !opened.administered.undeployed().isEmpty)
        }
    }

    @Test
    func `a key is for users who are there`() async throws {
        try await OpenedStore.run { opened in
            let (service, pair) = (opened.service("shop"), ServiceKeyPair())
            #expect(throws: AdministrationError.usersMissing(["alice"], container: Self.container)) {
                try service.register(pair, onBehalfOf: ["alice"], isReadOnly: false)
            }
            _ = try opened.user("alice").add()
            try service.register(pair, onBehalfOf: ["alice"], isReadOnly: true)
            #expect(try opened.administered.serviceKeys().map(\.isReadOnly) == [true])
            #expect(try service.revoke(keyID: nil) == 1)
            let missing = AdministrationError.service(.keyMissing, name: "shop", container: Self.container)
            #expect(throws: missing) { try service.revoke(keyID: "0f1e") }
        }
    }

    @Test
    func `a deletion says what it takes, and takes it`() async throws {
        try await OpenedStore.run { opened in
            _ = try opened.user("alice").add()
            _ = try opened.database(of: "alice")
            let user = DeletionRun(.user(name: "alice", container: Self.container), in: opened.store)
            #expect(try user.extent().users == 1)
            try await user.run { false }
            #expect(try opened.administered.users().isEmpty)
            let gone = AdministrationError.directory(.userMissing, container: Self.container, user: "alice")
            #expect(throws: gone) { try user.extent() }
            try await DeletionRun(.container(Self.container), in: opened.store).run { false }
            #expect(try AdministeredContainer.identifiers(in: opened.store).isEmpty)
        }
    }

    @Test
    func `a database belongs to a user who has signed in`() async throws {
        try await OpenedStore.run { opened in
            _ = try opened.user("alice").add()
            let missing = AdministrationError.databaseMissing(.private, user: "alice", .development)
            #expect(throws: missing) { try opened.database(of: "alice", absent: .isRefused) }
            #expect(try opened.database(of: "alice", absent: .isAssumed).requester.database == .assumed)
            #expect(try opened.database(of: "alice").requester.database != .assumed)
            _ = try opened.database(of: "alice", absent: .isRefused)
            var selection = DatabaseSelection(
                container: Self.container,
                scope: .shared,
                user: nil,
                environment: .development
            )
            #expect(throws: AdministrationError.userRequired(.shared)) {
                try selection.requester(in: opened.store)
            }
            selection.scope = .public
            #expect(try selection.requester(in: opened.store).isOperator)
        }
    }
}
