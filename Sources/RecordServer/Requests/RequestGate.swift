package import WireProtocol

/// Stands between the admission of a request and its turn.
///
/// Tests have one, to let things go wrong; a server in production has none, and pays nothing.
package protocol RequestGate: Sendable {
    /// Decides about a request that was admitted.
    ///
    /// Called on event loops: must not block.
    func admitted(_ request: GatedRequest) -> GateDecision

    /// Whether the connection breaks in place of a response.
    func breaksConnection(insteadOf id: GatedRequest.ID) -> Bool

    /// The outcomes that are sent, of those that the engine has found.
    func passing(_ outcomes: Outcomes, of id: GatedRequest.ID) -> Outcomes
}

/// A request at a gate.
package struct GatedRequest: Sendable {
    /// A stream of a server.
    package struct ID: Hashable, Sendable {
        let connection: UInt64
        let stream: UInt32
    }

    package let id: ID
    package let operation: OperationKind
    /// `nil` if nobody is signed in.
    package let userRecordName: String?
    package let request: AdmittedRequest
}

/// The verdict of a gate about a request.
package enum GateDecision: Sendable {
    /// It, or what is left of it, waits for its turn.
    case execute(AdmittedRequest)
    /// The same, a while later.
    case delay(Duration, AdmittedRequest)
    /// The same, when the gate calls the closure that it is given, once and on any thread.
    case hold(AdmittedRequest, until: @Sendable (@escaping @Sendable () -> Void) -> Void)
    /// It gets this response, and is not executed.
    case respond(Outcomes)
    case fail(Failure)
    case breakConnection
}
