internal import RecordClient
private import Synchronization
private import WireProtocol

/// The record name of the user to whom a connection's token belongs; asked for once, because a
/// token belongs to one user.
final class UserName: Sendable {
    private let name = Mutex<String?>(nil)

    /// The name, empty if no user is signed in; `nil` before the first sign-in response.
    var known: String? { self.name.withLock { $0 } }

    /// Returns the name; connects if there was no connection yet.
    func fetched(from client: RecordClient, timeout: Duration) async throws(ClientError) -> String {
        if let known = self.known { return known }
        let name = try await client.welcome(timeout: timeout).userRecordName
        self.name.withLock { $0 = name }
        return name
    }
}
