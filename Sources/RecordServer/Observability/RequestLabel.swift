import Logging
import RecordModel

/// The values by which lines of the log name a connection.
struct ConnectionLabel: Sendable {
    /// Not reused while the server runs.
    let connection: UInt64
    let peer: String
    /// Empty until a user is signed in.
    var container = ""
    var user = ""

    /// Empty values are left out of a line.
    var metadata: Logger.Metadata {
        [
            LogKeys.connection: .stringConvertible(self.connection), LogKeys.peer: "\(self.peer)",
            LogKeys.container: "\(self.container)", LogKeys.user: "\(self.user)",
        ]
    }

    /// The metadata together with an event's own values.
    func metadata(_ others: Logger.Metadata) -> Logger.Metadata { self.metadata.merging(others) { $1 } }
}

/// The values by which log lines name a request, beside its connection.
///
/// Stream and connection identify every request. Changes also have an ID from the client, which
/// retries reuse.
struct RequestLabel: Sendable {
    let stream: UInt32
    /// `nil` if the request was refused before it was decoded.
    var operation: OperationKind?
    var requestID: RequestID?

    func metadata(of connection: ConnectionLabel, _ others: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata = connection.metadata(others)
        metadata[LogKeys.stream] = .stringConvertible(self.stream)
        if let operation { metadata[LogKeys.operation] = "\(operation.rawValue)" }
        if let requestID { metadata[LogKeys.request] = "\(requestID.text)" }
        return metadata
    }
}

extension RequestID {
    /// Written as a UUID, as clients log it.
    ///
    /// - Source: RFC 9562, section 4.
    fileprivate var text: String {
        let digits = [self.high, self.low].map { word in
            let text = String(word, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
        var parts: [Substring] = []
        var rest = digits[...]
        for count in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return parts.joined(separator: "-")
    }
}
