internal import RecordClient
private import Synchronization
private import WireProtocol

/// The record name of the user whose token a connection has: asked for once, since a token belongs to one user.
final class UserName: Sendable {
    private let name = Mutex<String?>(nil)

    /// Empty when nobody is signed in; `nil` before the first welcome.
    var known: String? { self.name.withLock { $0 } }

    /// The name; connects when there was no connection yet.
    func fetched(from client: RecordClient, timeout: Duration) async throws(ClientError) -> String {
        if let known = self.known { return known }
        let name = try await client.welcome(timeout: timeout).userRecordName
        self.name.withLock { $0 = name }
        return name
    }
}
