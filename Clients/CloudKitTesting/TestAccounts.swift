import CloudKit
import Foundation
import RecordServer
import RecordStore
import Synchronization

/// The users of a test server and their credentials.
final class TestAccounts: Sendable {
    private struct Account: Hashable {
        var user: String
        var container: String
    }

    private struct State {
        var tokens: [Account: AccessToken] = [:]
        var connections: Set<CKServerConnection> = []
    }

    private let state = Mutex(State())

    /// Returns the access token of a user; creates the user and the container if they are new.
    ///
    /// Two callers who ask for the same user at once send the same token, and the second learns
    /// that the user exists. So each returns when the user is there.
    ///
    /// - Returns: The token; `nil` if no user is signed in.
    func token(for user: String?, container: String, in directory: Directory) async throws -> String? {
        try await Self.onThread {
            do throws(DirectoryError) {
                try directory.createContainer(container)
            } catch {
                guard error == .containerExists else { throw error }
            }
        }
        guard let user else { return nil }
        let token = self.state.withLock { state in
            let account = Account(user: user, container: container)
            let token = state.tokens[account] ?? AccessToken()
            state.tokens[account] = token
            return token
        }
        try await Self.onThread {
            do throws(DirectoryError) {
                try directory.addUser(
                    named: user,
                    userRecordName: Self.userRecordName(user, in: container),
                    tokenHash: token.hash,
                    toContainer: container
                )
            } catch {
                guard error == .userExists else { throw error }
            }
        }
        return token.text
    }

    /// Gives a user another token from now on.
    func replaceToken(of user: String, container: String, by token: AccessToken) {
        self.state.withLock { $0.tokens[Account(user: user, container: container)] = token }
    }

    func remember(_ connection: CKServerConnection) {
        self.state.withLock { _ = $0.connections.insert(connection) }
    }

    func closeConnections() async {
        let connections = self.state.withLock { state in
            defer { state.connections = [] }
            return state.connections
        }
        for connection in connections { await connection.close() }
    }

    /// Returns the user record name of a user in a container: it is made of their names, so that a
    /// test finds the same in each run.
    ///
    /// A user of a server has different names in two containers.
    static func userRecordName(_ user: String, in container: String) -> String {
        self.prefix(user) + self.hash("\(container)/\(user)", from: 0x8422_2325_CBF2_9CE4)
    }

    /// Returns whether a name is the user record name of a user, in any container.
    static func isUserRecordName(_ name: String?, of user: String) -> Bool {
        name?.hasPrefix(self.prefix(user)) ?? false
    }

    private static func prefix(_ user: String) -> String {
        "_" + self.hash(user, from: 0xCBF2_9CE4_8422_2325)
    }

    private static func hash(_ text: String, from start: UInt64) -> String {
        let hash = text.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Runs a call that blocks on a thread of its own.
    static func onThread(_ work: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread { continuation.resume(with: Result(catching: work)) }
        }
    }
}
