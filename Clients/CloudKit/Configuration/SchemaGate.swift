internal import RecordClient
private import RecordModel
private import Synchronization
private import WireProtocol

/// Blocks requests to a server without a part of the code's schema.
final class SchemaGate: Sendable {
    private let schema: String
    /// What the server lacks; `nil` if it was not asked yet.
    private let response = Mutex<[String]?>(nil)

    init(schema: String) {
        self.schema = schema
    }

    var missing: [String] { self.response.withLock { $0 ?? [] } }

    /// Whether the server has said that nothing is missing.
    var isOpen: Bool { self.response.withLock { $0?.isEmpty ?? false } }

    /// Asks the server, unless it has said that nothing is missing.
    func ask(_ client: RecordClient, timeout: Duration) async throws(ClientError) {
        guard !self.isOpen else { return }
        let end = try await client.end(of: .checkSchema(CheckSchema(schema: self.schema)), timeout: timeout)
        self.response.withLock { $0 = end.missing }
    }
}
