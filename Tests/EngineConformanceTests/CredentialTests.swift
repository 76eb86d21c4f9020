import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformance

/// Tokens, keys of services and what identity providers say, in the directory.
@Suite(.timeLimit(.minutes(10)))
struct CredentialTests {
    private static let container = EngineUnderTest.container
    private static let alice = EngineUnderTest.token(of: "alice")
    private static let newToken = [UInt8](repeating: 7, count: 32)

    private static func key(
        _ id: Character,
        of service: String = "shop",
        onBehalfOf users: [String] = []
    ) -> NewServiceKey {
        NewServiceKey(
            serviceName: service,
            userRecordName: "_" + String(repeating: service == "shop" ? "1" : "2", count: 32),
            keyID: String(repeating: id, count: 64),
            publicKey: [UInt8](repeating: 3, count: 91),
            onBehalfOf: users
        )
    }

    private static func admit(_ claim: CredentialClaim, to it: EngineUnderTest) throws -> Admittance {
        try it.store.directory.admit(claim, toContainer: self.container, environment: .development)
    }

    private static func service(_ id: Character, onBehalfOf user: String? = nil) -> CredentialClaim {
        .serviceKey(id: String(repeating: id, count: 64), onBehalfOf: user)
    }

    @Test(arguments: EngineKind.allCases)
    func `the token before lets in until its time is over, and one that is older does not`(
        kind: EngineKind
    ) throws {
        let it = try EngineUnderTest(kind)
        let directory = it.store.directory
        func rotate(_ hash: [UInt8], overlap: Int64) throws {
            try directory.rotateToken(
                ofUser: "alice",
                inContainer: Self.container,
                tokenHash: hash,
                overlapMilliseconds: overlap
            )
        }
        #expect(try Self.admit(.accessToken(hash: Self.alice), to: it).expiresMilliseconds == nil)
        try rotate(Self.newToken, overlap: 1_000)
        let end = it.clock.milliseconds + 1_000
        let old = try Self.admit(.accessToken(hash: Self.alice), to: it)
        #expect(old.expiresMilliseconds == end)
        #expect(old.signIn == it.signIn)
        let credential = try #require(old.credential)
        #expect(try directory.recheck(credential).expiresMilliseconds == end)
        #expect(try Self.admit(.accessToken(hash: Self.newToken), to: it).expiresMilliseconds == nil)
        it.clock.advance(milliseconds: 999)
        _ = try Self.admit(.accessToken(hash: Self.alice), to: it)
        it.clock.advance(milliseconds: 1)
        #expect(throws: DirectoryError.tokenUnknown) {
            try Self.admit(.accessToken(hash: Self.alice), to: it)
        }
        #expect(throws: DirectoryError.tokenUnknown) { try directory.recheck(credential) }

        try rotate(Self.alice, overlap: 1_000)
        let third = [UInt8](repeating: 8, count: 32)
        try rotate(third, overlap: 1_000)
        #expect(throws: DirectoryError.tokenUnknown) {
            try Self.admit(.accessToken(hash: Self.newToken), to: it)
        }
        _ = try Self.admit(.accessToken(hash: Self.alice), to: it)
        try directory.revokeUser(named: "alice", inContainer: Self.container)
        for hash in [Self.alice, third] {
            #expect(throws: DirectoryError.tokenUnknown) { try Self.admit(.accessToken(hash: hash), to: it) }
        }
        #expect(throws: DirectoryError.userRevoked) { try rotate(Self.newToken, overlap: 0) }
    }

    @Test(arguments: EngineKind.allCases)
    func `a restricted user gets in, and everybody who watches learns of it`(kind: EngineKind) throws {
        let it = try EngineUnderTest(kind)
        let directory = it.store.directory
        try directory.addServiceKey(Self.key("a", onBehalfOf: ["alice"]), toContainer: Self.container)
        let claims = [CredentialClaim.accessToken(hash: Self.alice), Self.service("a", onBehalfOf: "alice")]
        let before = try claims.map { try Self.admit($0, to: it) }
        #expect(before.allSatisfy { !$0.isRestricted })
        for isRestricted in [true, false] {
            let version = try directory.credentialChanges(after: 0).version
            try directory.setRestriction(isRestricted, ofUser: "alice", inContainer: Self.container)
            #expect(try directory.credentialChanges(after: version).users.count == 1)
            for (claim, earlier) in zip(claims, before) {
                let admitted = try Self.admit(claim, to: it)
                #expect(admitted.signIn == earlier.signIn && admitted.isRestricted == isRestricted)
                let state = try directory.recheck(#require(earlier.credential))
                #expect(state.isRestricted == isRestricted)
            }
            #expect(try Self.admit(Self.service("a"), to: it).isRestricted == false)
            let listed = try directory.users(ofContainer: Self.container)
            #expect(listed.filter(\.isRestricted).map(\.name) == (isRestricted ? ["alice"] : []))
        }
        // Another token changes nothing of it.
        try directory.setRestriction(true, ofUser: "alice", inContainer: Self.container)
        try directory.renewToken(ofUser: "alice", inContainer: Self.container, tokenHash: Self.newToken)
        #expect(try Self.admit(.accessToken(hash: Self.newToken), to: it).isRestricted)
        #expect(throws: DirectoryError.userIsService) {
            try directory.setRestriction(true, ofUser: "shop", inContainer: Self.container)
        }
        #expect(throws: DirectoryError.userMissing) {
            try directory.setRestriction(true, ofUser: "nobody", inContainer: Self.container)
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a service has no private database, and roles like everybody`(kind: EngineKind) throws {
        let it = try EngineUnderTest(kind)
        let directory = it.store.directory
        try directory.addServiceKey(Self.key("a"), toContainer: Self.container)
        let shop = try Self.admit(Self.service("a"), to: it)
        #expect(shop.signIn.privateDatabase == nil)
        #expect(shop.signIn.publicDatabase == it.signIn.publicDatabase)
        #expect(shop.signIn.userRecordName == "_" + String(repeating: "1", count: 32))
        // A second key is the same service, under the name that it has.
        try directory.addServiceKey(Self.key("b"), toContainer: Self.container)
        #expect(try Self.admit(Self.service("b"), to: it).signIn == shop.signIn)
        #expect(
            try directory.account(named: "shop", ofContainer: Self.container, environment: .development)
                == shop.signIn
        )
        let listed = try directory.users(ofContainer: Self.container)
        #expect(listed.map(\.name) == ["alice", "bob", "shop"])
        #expect(listed.map(\.isService) == [false, false, true])
        #expect(throws: DirectoryError.userIsService) {
            try directory.renewToken(ofUser: "shop", inContainer: Self.container, tokenHash: Self.newToken)
        }
        #expect(throws: DirectoryError.userIsService) {
            try directory.revokeUser(named: "shop", inContainer: Self.container)
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a key acts for those alone that it was registered for`(kind: EngineKind) throws {
        let it = try EngineUnderTest(kind)
        let directory = it.store.directory
        try directory.addServiceKey(
            Self.key("a", onBehalfOf: ["alice", "alice"]),
            toContainer: Self.container
        )
        try directory.addServiceKey(Self.key("b"), toContainer: Self.container)
        let admitted = try Self.admit(Self.service("a", onBehalfOf: "alice"), to: it)
        #expect(admitted.signIn == it.signIn)
        let credential = try #require(admitted.credential)
        #expect(try directory.recheck(credential) == CredentialState())
        for claim in [
            Self.service("a", onBehalfOf: "bob"), Self.service("b", onBehalfOf: "alice"),
            Self.service("a", onBehalfOf: "shop"), Self.service("a", onBehalfOf: ""), Self.service("c"),
        ] {
            #expect(throws: DirectoryError.tokenUnknown) { try Self.admit(claim, to: it) }
        }
        try directory.revokeUser(named: "alice", inContainer: Self.container)
        #expect(throws: DirectoryError.tokenUnknown) { try directory.recheck(credential) }
        #expect(throws: DirectoryError.tokenUnknown) {
            try Self.admit(Self.service("a", onBehalfOf: "alice"), to: it)
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `keys are revoked one by one or all, and never come back`(kind: EngineKind) throws {
        let it = try EngineUnderTest(kind)
        let directory = it.store.directory
        for id in ["a", "b", "c"] as [Character] {
            try directory.addServiceKey(Self.key(id), toContainer: Self.container)
        }
        func revoke(_ id: Character?) throws -> Int {
            try directory.revokeServiceKeys(
                ofService: "shop",
                keyID: id.map { String(repeating: $0, count: 64) },
                inContainer: Self.container
            )
        }
        let credential = try #require(try Self.admit(Self.service("a"), to: it).credential)
        #expect(try revoke("a") == 1)
        #expect(throws: DirectoryError.tokenUnknown) { try directory.recheck(credential) }
        #expect(throws: DirectoryError.tokenUnknown) { try Self.admit(Self.service("a"), to: it) }
        let revokedID = String(repeating: "a", count: 64)
        #expect(try directory.publicKey(ofServiceKey: revokedID, inContainer: Self.container) == nil)
        #expect(throws: DirectoryError.keyMissing) { try revoke("a") }
        #expect(throws: DirectoryError.keyExists) {
            try directory.addServiceKey(Self.key("a"), toContainer: Self.container)
        }
        _ = try Self.admit(Self.service("b"), to: it)
        #expect(try revoke(nil) == 2)
        #expect(throws: DirectoryError.keyMissing) { try revoke(nil) }
        #expect(
            try directory.serviceKeys(ofContainer: Self.container).map(\.isRevoked) == [true, true, true]
        )
        try directory.addServiceKey(Self.key("d"), toContainer: Self.container)
        _ = try Self.admit(Self.service("d"), to: it)
    }

    @Test(arguments: EngineKind.allCases)
    func `what cannot be registered leaves nothing behind`(kind: EngineKind) throws {
        let it = try EngineUnderTest(kind)
        let directory = it.store.directory
        func add(_ key: NewServiceKey) throws {
            try directory.addServiceKey(key, toContainer: Self.container)
        }
        #expect(throws: DirectoryError.userExists) { try add(Self.key("a", of: "alice")) }
        #expect(throws: DirectoryError.userMissing) { try add(Self.key("a", onBehalfOf: ["alice", "eve"])) }
        #expect(throws: DirectoryError.userNameInvalid) { try add(Self.key("a", of: "_")) }
        #expect(throws: DirectoryError.userMissing) {
            try directory.revokeServiceKeys(ofService: "alice", keyID: nil, inContainer: Self.container)
        }
        #expect(try directory.serviceKeys(ofContainer: Self.container) == [])
        #expect(try directory.users(ofContainer: Self.container).count == 2)
        for digit in "0123456789abcdef" { try add(Self.key(digit)) }
        #expect(throws: DirectoryError.tooManyKeys) { try add(Self.key("g")) }
        // A service cannot be acted for.
        #expect(throws: DirectoryError.userMissing) {
            try add(Self.key("h", of: "other", onBehalfOf: ["shop"]))
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a user of whom an identity provider speaks is found, added or refused`(kind: EngineKind) throws {
        let it = try EngineUnderTest(kind)
        let directory = it.store.directory
        let end = it.clock.milliseconds + 1_000
        func claim(_ name: String, adding: Bool) -> CredentialClaim {
            .identity(
                IdentityClaim(
                    userName: name,
                    newUserRecordName: adding ? "_" + String(repeating: "9", count: 32) : nil,
                    expiresMilliseconds: end
                )
            )
        }
        let known = try Self.admit(claim("alice", adding: true), to: it)
        #expect(known.signIn == it.signIn)
        #expect(known.expiresMilliseconds == end)
        #expect(throws: DirectoryError.tokenUnknown) { try Self.admit(claim("ada", adding: false), to: it) }
        let ada = try Self.admit(claim("ada", adding: true), to: it)
        #expect(ada.signIn.userRecordName == "_" + String(repeating: "9", count: 32))
        #expect(ada.signIn.privateDatabase != nil)
        #expect(try Self.admit(claim("ada", adding: false), to: it).signIn == ada.signIn)
        // A user without a token of their own is no more revoked than others.
        #expect(try directory.users(ofContainer: Self.container).map(\.isRevoked) == [false, false, false])
        try directory.addServiceKey(Self.key("a"), toContainer: Self.container)
        #expect(throws: DirectoryError.tokenUnknown) { try Self.admit(claim("shop", adding: true), to: it) }
        try directory.revokeUser(named: "ada", inContainer: Self.container)
        #expect(throws: DirectoryError.tokenUnknown) { try Self.admit(claim("ada", adding: true), to: it) }
        #expect(throws: DirectoryError.tokenUnknown) { try directory.recheck(#require(ada.credential)) }
        it.clock.advance(milliseconds: 1_000)
        #expect(throws: DirectoryError.tokenExpired) { try Self.admit(claim("alice", adding: false), to: it) }
    }

    @Test(arguments: EngineKind.allCases)
    func `changes of credentials are told by user, also those of another process`(kind: EngineKind) throws {
        let one = try EngineUnderTest(kind)
        let two = try one.beside()
        let start = try one.store.directory.credentialChanges(after: 0).version
        func changed(after version: Int64) throws -> CredentialChanges {
            try one.store.directory.credentialChanges(after: version)
        }
        #expect(try changed(after: start) == CredentialChanges(version: start, users: []))
        let alice = try #require(try Self.admit(.accessToken(hash: Self.alice), to: one).credential).users
        try two.store.directory.revokeUser(named: "alice", inContainer: Self.container)
        let first = try changed(after: start)
        #expect(first.users == Set(alice))
        #expect(first.version > start)
        // Neither saves nor new users end anything.
        try two.store.directory.addServiceKey(Self.key("a"), toContainer: Self.container)
        #expect(try changed(after: first.version).users == [])
        let shop = try #require(try Self.admit(Self.service("a"), to: one).credential).users
        _ = try two.store.directory.revokeServiceKeys(
            ofService: "shop",
            keyID: nil,
            inContainer: Self.container
        )
        let second = try changed(after: first.version)
        #expect(second.users == Set(shop))
        #expect(try changed(after: start).users == Set(alice + shop))
        #expect(try Self.admit(.nobody, to: one).version == second.version)
    }
}
