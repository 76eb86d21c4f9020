import ArgumentParser
import RecordModel
import RecordServer
import RecordStore

/// `NAME --container ID --data DIR`, which the commands about one user take.
struct UserArguments: ParsableArguments {
    @Argument(
        help: "The user's name, for administration only: clients see a random user record name.",
        completion: Completions.users
    )
    var name: String

    @Option(help: .container, completion: Completions.containers)
    var container = ""

    @OptionGroup var data: DataOption

    /// Runs a change of this user's entry.
    func change(_ body: (Directory) throws -> Void) async throws {
        try await AdministeredStore.use(self.data.folder, body) { error in
            DirectoryAdvice.failure(error, container: self.container, user: self.name)
        }
    }

    // MARK: Changes that commands and the console make

    /// Adds the user, with the token that is returned.
    func add() async throws -> (userRecordName: String, token: AccessToken) {
        let token = AccessToken()
        let recordName = RandomNames.userRecordName()
        try await self.change { directory in
            try directory.addUser(
                named: self.name,
                userRecordName: recordName,
                tokenHash: token.hash,
                toContainer: self.container
            )
        }
        return (recordName, token)
    }

    /// Gives the user the token that is returned, in place of all others.
    func renew() async throws -> AccessToken {
        let token = AccessToken()
        try await self.change { directory in
            try directory.renewToken(
                ofUser: self.name,
                inContainer: self.container,
                tokenHash: token.hash
            )
        }
        return token
    }

    func revoke() async throws {
        try await self.change { directory in
            try directory.revokeUser(named: self.name, inContainer: self.container)
        }
    }

    /// Restricts the user, or lifts that.
    func restrict(_ isRestricted: Bool) async throws {
        try await self.change { directory in
            try directory.setRestriction(isRestricted, ofUser: self.name, inContainer: self.container)
        }
    }

    func setContacts(_ contacts: [IdentityLookup]) async throws {
        try await self.change { directory in
            try directory.setContacts(contacts, ofUser: self.name, inContainer: self.container)
        }
    }
}
