import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// Rules of the directory over rows in memory.
struct DirectoryRulesTests {
    private static let container = "org.example.rules"
    private let rows = MemoryTables()
    private var lookup: DirectoryLookup { DirectoryLookup(rows: self.rows) }

    init() throws { try self.change().createContainer(Self.container) }

    private func change(at now: Int64 = 1_000) -> DirectoryChange {
        DirectoryChange(rows: self.rows, nowMilliseconds: now)
    }

    private func addUser(_ name: String, _ digit: String, token: UInt8?) throws {
        try self.change().addUser(
            named: name,
            userRecordName: "_" + String(repeating: digit, count: 32),
            tokenHash: token.map { [$0] },
            toContainer: Self.container
        )
    }

    private func find(_ claim: CredentialClaim, at now: Int64 = 1_000) throws -> SignInLookup.Found {
        try SignInLookup(container: Self.container, environment: .development, rows: self.rows)
            .find(claim, nowMilliseconds: now)
    }

    private func serviceKey(_ id: String, onBehalfOf users: [String] = []) -> NewServiceKey {
        NewServiceKey(
            serviceName: "robot",
            userRecordName: "_" + String(repeating: "f", count: 32),
            keyID: id,
            publicKey: [1, 2, 3],
            onBehalfOf: users
        )
    }

    @Test func `a container has two environments, each with a public database and its default zone`() throws {
        #expect(try self.lookup.containers() == [Self.container])
        let number = try self.lookup.container(Self.container)
        let environments = try self.lookup.environments(ofContainer: number)
        #expect(environments.map(\.kind) == [.development, .production])
        for environment in environments {
            let databases = try self.rows.rows(RowRange(DatabaseRow.byOwner, environment.number))
            #expect(databases.map(\.scope) == [.public])
            let zones = try self.rows.rows(RowRange(ZoneRow.byKey, databases[0].number))
            #expect(zones.map(\.name) == [ZoneID.defaultZoneName] && zones[0].number == 0)
        }
        #expect(throws: DirectoryError.containerExists) {
            try self.change().createContainer(Self.container)
        }
        #expect(throws: DirectoryError.containerNameInvalid) { try self.change().createContainer("") }
    }

    @Test func `a new database begins behind the last restore, and once`() throws {
        for var database in try self.rows.rows(RowRange(DatabaseRow.byKey)) {
            database.position = 70 + database.number.rawValue
            try self.rows.put(database)
        }
        let number = try self.lookup.container(Self.container)
        let environment = try self.lookup.environments(ofContainer: number)[0].number
        let creation = DatabaseCreation(rows: self.rows, environment: environment, nowMilliseconds: 5)
        let shared = try creation.create(.shared, of: UserNumber(rawValue: 9))
        #expect(try self.rows.row(DatabaseRow.byKey, shared)?.position == 71)
        #expect(try self.rows.count(RowRange(ZoneRow.byKey, shared)) == 0)
        #expect(try creation.create(.shared, of: UserNumber(rawValue: 9)) == shared)
    }

    @Test func `names, record names and tokens of users are taken once`() throws {
        try self.addUser("alice", "a", token: 1)
        for (name, digit, token) in [("alice", "b", 2), ("bob", "a", 2), ("bob", "b", 1)] {
            #expect(throws: DirectoryError.userExists) {
                try self.addUser(name, digit, token: UInt8(token))
            }
        }
        // Any number of users have no token.
        try self.addUser("bob", "b", token: nil)
        try self.addUser("carol", "c", token: nil)
        #expect(try self.lookup.users(ofContainer: Self.container).map(\.name) == ["alice", "bob", "carol"])
        #expect(throws: DirectoryError.containerMissing) { try self.lookup.users(ofContainer: "other") }
    }

    @Test func `a token signs in until it is revoked, and a rotated one for a while`() throws {
        try self.addUser("alice", "a", token: 1)
        let first = try self.find(.accessToken(hash: [1]))
        #expect(first.user?.name == "alice" && !first.hasDatabases)
        #expect(first.admission.expiresMilliseconds == nil)
        #expect(throws: DirectoryError.tokenUnknown) { try self.find(.accessToken(hash: [9])) }

        try self.change().rotateToken(
            ofUser: "alice",
            inContainer: Self.container,
            tokenHash: [2],
            untilMilliseconds: 2_000
        )
        #expect(try self.find(.accessToken(hash: [1]), at: 1_999).admission.expiresMilliseconds == 2_000)
        #expect(throws: DirectoryError.tokenUnknown) { try self.find(.accessToken(hash: [1]), at: 2_000) }
        #expect(try self.find(.accessToken(hash: [2])).admission.expiresMilliseconds == nil)
        let credential = try #require(first.admission.credential)
        #expect(try self.lookup.recheck(credential, nowMilliseconds: 1_999).expiresMilliseconds == 2_000)
        #expect(throws: DirectoryError.tokenUnknown) {
            try self.lookup.recheck(credential, nowMilliseconds: 2_000)
        }

        try self.change().revokeUser(named: "alice", inContainer: Self.container)
        #expect(throws: DirectoryError.tokenUnknown) { try self.find(.accessToken(hash: [2])) }
        #expect(throws: DirectoryError.userRevoked) {
            try self.change().rotateToken(
                ofUser: "alice",
                inContainer: Self.container,
                tokenHash: [3],
                untilMilliseconds: 9_000
            )
        }
        try self.change().renewToken(ofUser: "alice", inContainer: Self.container, tokenHash: [3])
        #expect(try self.find(.accessToken(hash: [3])).user?.name == "alice")
    }

    @Test func `whatever could end a connection gives its user a new version`() throws {
        try self.addUser("alice", "a", token: 1)
        try self.addUser("bob", "b", token: 2)
        #expect(try self.lookup.credentialChanges(after: 0).users.isEmpty)
        try self.change().renewToken(ofUser: "alice", inContainer: Self.container, tokenHash: [3])
        let alice = try self.lookup.credentialChanges(after: 0)
        #expect(alice.version == 1 && alice.users.count == 1)
        try self.change().revokeUser(named: "bob", inContainer: Self.container)
        let bob = try self.lookup.credentialChanges(after: alice.version)
        #expect(bob.version == 2 && bob.users.isDisjoint(with: alice.users))
    }

    @Test func `a key acts for its service and for those that it names`() throws {
        try self.addUser("alice", "a", token: 1)
        try self.addUser("bob", "b", token: 2)
        try self.change().addServiceKey(
            self.serviceKey("k1", onBehalfOf: ["alice"]),
            toContainer: Self.container
        )
        #expect(try self.find(.serviceKey(id: "k1", onBehalfOf: nil)).user?.name == "robot")
        let acting = try self.find(.serviceKey(id: "k1", onBehalfOf: "alice"))
        #expect(acting.user?.name == "alice")
        #expect(throws: DirectoryError.tokenUnknown) {
            try self.find(.serviceKey(id: "k1", onBehalfOf: "bob"))
        }
        #expect(throws: DirectoryError.keyExists) {
            try self.change().addServiceKey(self.serviceKey("k1"), toContainer: Self.container)
        }
        #expect(throws: DirectoryError.userMissing) {
            try self.change().addServiceKey(
                self.serviceKey("k2", onBehalfOf: ["eve"]),
                toContainer: Self.container
            )
        }
        try self.change().revokeUser(named: "alice", inContainer: Self.container)
        let credential = try #require(acting.admission.credential)
        #expect(throws: DirectoryError.tokenUnknown) {
            try self.lookup.recheck(credential, nowMilliseconds: 0)
        }
        let revoked = try self.change().revokeServiceKeys(
            ofService: "robot",
            keyID: nil,
            inContainer: Self.container
        )
        #expect(revoked >= 1)
        #expect(throws: DirectoryError.tokenUnknown) {
            try self.find(.serviceKey(id: "k1", onBehalfOf: nil))
        }
    }

    @Test func `a service has so many good keys at most`() throws {
        for number in 0..<DirectoryChange.keysMax {
            try self.change().addServiceKey(self.serviceKey("k\(number)"), toContainer: Self.container)
        }
        #expect(throws: DirectoryError.tooManyKeys) {
            try self.change().addServiceKey(self.serviceKey("one more"), toContainer: Self.container)
        }
        _ = try self.change().revokeServiceKeys(
            ofService: "robot",
            keyID: "k3",
            inContainer: Self.container
        )
        try self.change().addServiceKey(self.serviceKey("one more"), toContainer: Self.container)
        let keys = try self.lookup.serviceKeys(ofContainer: Self.container)
        #expect(keys.map(\.keyID) == (0..<DirectoryChange.keysMax).map { "k\($0)" } + ["one more"])
        #expect(keys.filter(\.isRevoked).map(\.keyID) == ["k3"])
    }

    @Test func `an address belongs to one user`() throws {
        try self.addUser("alice", "a", token: 1)
        try self.addUser("bob", "b", token: 2)
        func set(_ contacts: [IdentityLookup], of user: String) throws {
            try self.change().setContacts(contacts, ofUser: user, inContainer: Self.container)
        }
        try set([.emailAddress("A@example.org"), .phoneNumber("+1 23")], of: "alice")
        #expect(try self.lookup.users(ofContainer: Self.container)[0].contacts == ["a@example.org", "+123"])
        #expect(throws: DirectoryError.contactTaken) { try set([.emailAddress("a@EXAMPLE.org")], of: "bob") }
        try set([.phoneNumber("+123")], of: "alice")
        try set([.emailAddress("a@example.org")], of: "bob")
    }

    @Test func `a deletion first ends the credentials of all whom it takes`() throws {
        try self.addUser("alice", "a", token: 1)
        try self.addUser("bob", "b", token: 2)
        try self.change().addServiceKey(
            self.serviceKey("k1", onBehalfOf: ["alice"]),
            toContainer: Self.container
        )
        try self.change().beginDeletion(.user(name: "alice", container: Self.container))
        #expect(throws: DirectoryError.tokenUnknown) { try self.find(.accessToken(hash: [1])) }
        #expect(try self.lookup.serviceKeys(ofContainer: Self.container)[0].onBehalfOf == [])
        #expect(try self.find(.accessToken(hash: [2])).user?.name == "bob")
        try self.change().beginDeletion(.container(Self.container))
        #expect(throws: DirectoryError.tokenUnknown) { try self.find(.accessToken(hash: [2])) }
        #expect(throws: DirectoryError.tokenUnknown) { try self.find(.serviceKey(id: "k1", onBehalfOf: nil)) }
        #expect(throws: DirectoryError.userMissing) {
            try self.change().beginDeletion(.user(name: "eve", container: Self.container))
        }
    }

    @Test func `usage adds up the databases of a user in each environment`() throws {
        try self.addUser("alice", "a", token: 1)
        let container = try self.lookup.container(Self.container)
        let alice = try self.lookup.user(named: "alice", in: container)
        for environment in try self.lookup.environments(ofContainer: container) {
            let creation = DatabaseCreation(
                rows: self.rows,
                environment: environment.number,
                nowMilliseconds: 0
            )
            for scope in [DatabaseScope.private, .shared] {
                let number = try creation.create(scope, of: alice.number)
                var row = try #require(try self.rows.row(DatabaseRow.byKey, number))
                row.stored.records = 3
                try self.rows.put(row)
            }
        }
        let usage = try self.lookup.usage(ofContainer: Self.container)
        #expect(usage.databases.map(\.user) == [nil, nil, "alice", "alice"])
        #expect(usage.databases.map(\.amount.records) == [0, 0, 6, 6])
        #expect(try self.lookup.storedAmount(after: DatabaseID(rawValue: 0), limit: 2)?.last.rawValue == 2)
        #expect(try self.lookup.storedAmount(after: DatabaseID(rawValue: 6), limit: 2) == nil)
    }
}
