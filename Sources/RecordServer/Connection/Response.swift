import NIOCore
import RecordModel
import WireProtocol

/// One stream from its request to its end: the request, then its outcomes.
final class Response {
    enum Stage {
        /// Waits for room for its outcomes, or for a gate.
        case waiting(AdmittedRequest)
        /// The engine is executing it.
        case executing
        /// Outcomes wait for the client; `next` is the index of the first unsent one.
        case sending(Outcomes, next: Int)
    }

    let stream: UInt32
    let kind: OperationKind
    /// `nil` if the client gave none.
    let requestID: RequestID?
    /// For lines of the log.
    let scope: DatabaseScope?
    /// When the whole request had arrived.
    let arrived: NIODeadline
    /// Milliseconds since 1970.
    let deadlineMilliseconds: Int64
    var stage: Stage
    /// The bytes that the response counts for; only `ResponseRoom` changes them.
    var room = Room()

    /// The bytes that a response counts for.
    struct Room {
        /// Bytes of outcomes that wait for the client.
        var heldBytes = 0
        /// Bytes reserved while the engine reads.
        var reservedBytes = 0

        var isEmpty: Bool { self.heldBytes == 0 && self.reservedBytes == 0 }
    }

    init(
        stream: UInt32,
        kind: OperationKind,
        arrived: NIODeadline,
        request: AdmittedRequest,
        deadlineMilliseconds: Int64
    ) {
        self.stream = stream
        self.kind = kind
        self.requestID = request.requestID
        self.scope = request.scope
        self.arrived = arrived
        self.stage = .waiting(request)
        self.deadlineMilliseconds = deadlineMilliseconds
    }

    /// For lines of the log.
    var label: RequestLabel {
        RequestLabel(stream: self.stream, operation: self.kind, requestID: self.requestID)
    }

    /// Takes the request out for execution; `nil` if it is not waiting.
    func takeRequest() -> AdmittedRequest? {
        guard case .waiting = self.stage else { return nil }
        // Moved out: a request has dozens of parts, and a copy would count references to each.
        var stage = Stage.executing
        swap(&stage, &self.stage)
        guard case .waiting(let request) = stage else { return nil }
        return request
    }
}
