import Crypto
import NIOPosix
import RecordModel
import RecordStore
import WireProtocol

/// Finds out who connects.
///
/// Only the SHA-256 of a token is ever compared, in an index of hashes, so that the time of an answer says
/// nothing about a token.
struct Authenticator: Sendable {
    private let directory: any Directory

    init(directory: any Directory) {
        self.directory = directory
    }

    /// Blocks: for a thread of its own, not for an event loop.
    ///
    /// - Throws: `notAuthenticated` (wrong or revoked), `containerUnknown`, `internalError` when the directory can't be read.
    func signIn(_ hello: Hello) throws(SignInRefusal) -> SignIn {
        guard NameRules.isContainerID(hello.container) else { throw SignInRefusal(.containerUnknown) }
        let tokenHash =
            hello.accessToken.isEmpty ? nil : Array(SHA256.hash(data: Array(hello.accessToken.utf8)))
        do {
            return try self.directory.signIn(
                container: hello.container,
                environment: hello.environment,
                tokenHash: tokenHash
            )
        } catch {
            throw SignInRefusal(error)
        }
    }
}

/// Why somebody may not come in.
struct SignInRefusal: Error, Hashable {
    var reason: CloseReason

    init(_ reason: CloseReason) {
        self.reason = reason
    }

    init(_ error: DirectoryError) {
        switch error {
        case .tokenUnknown: self.reason = .notAuthenticated
        case .containerMissing: self.reason = .containerUnknown
        case .containerNameInvalid: self.reason = .containerUnknown
        case .unavailable: self.reason = .overloaded
        case .containerExists: self.reason = .internalError
        case .userExists: self.reason = .internalError
        case .userMissing: self.reason = .internalError
        case .userNameInvalid: self.reason = .internalError
        }
    }
}
