import NIOCore
import RecordModel
import WireProtocol

/// One stream from its request to its end: what is to be executed, and what came of it.
final class Response {
    enum Stage {
        /// To be executed when there is room for the outcomes, or when a gate lets it go.
        case waiting(AdmittedRequest)
        /// The engine has it.
        case executing
        /// Outcomes wait for the client; `next` is the index of the first that was not sent.
        case sending(Outcomes, next: Int)
    }

    let stream: UInt32
    let kind: OperationKind
    /// `nil` if the client gave none.
    let requestID: RequestID?
    /// For lines of the log.
    let scope: DatabaseScope?
    /// When the request had come whole.
    let arrived: NIODeadline
    /// Milliseconds since 1970.
    let deadlineMilliseconds: Int64
    var stage: Stage
    /// The bytes that the response counts for; `ResponseRoom` alone changes them.
    var room = Room()

    /// The bytes that a response counts for.
    struct Room {
        /// Bytes of outcomes that wait for the client.
        var heldBytes = 0
        /// Room set aside while the engine reads, in bytes.
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

    /// Takes the request out, to be executed; `nil` if it does not wait.
    func takeRequest() -> AdmittedRequest? {
        guard case .waiting = self.stage else { return nil }
        // Moved out: a request has dozens of parts, and a copy would count references to each.
        var stage = Stage.executing
        swap(&stage, &self.stage)
        guard case .waiting(let request) = stage else { return nil }
        return request
    }
}
