internal import RecordClient
private import RecordModel
private import Synchronization
private import WireProtocol

/// Keeps requests from a server whose schema lacks something that the code was built for.
final class SchemaGate: Sendable {
    private let schema: String
    /// What the server lacks; `nil`: not asked yet.
    private let answer = Mutex<[String]?>(nil)

    init(schema: String) {
        self.schema = schema
    }

    var missing: [String] { self.answer.withLock { $0 ?? [] } }

    /// Whether the server has everything, as far as it was asked.
    var isOpen: Bool { self.answer.withLock { $0?.isEmpty ?? false } }

    /// Asks the server, unless it has said that it has everything.
    func ask(_ client: RecordClient, timeout: Duration) async throws(ClientError) {
        guard !self.isOpen else { return }
        let end = try await client.end(of: .checkSchema(CheckSchema(schema: self.schema)), timeout: timeout)
        self.answer.withLock { $0 = end.missing }
    }
}
