package import WireProtocol

/// A hook between the admission of a request and its turn.
///
/// Tests use one to inject faults; a production server has none, at no cost.
package protocol RequestGate: Sendable {
    /// Decides about an admitted request.
    ///
    /// Called on event loops: must not block.
    func admitted(_ request: GatedRequest) -> GateDecision

    /// Whether to break the connection instead of sending a response.
    func breaksConnection(insteadOf id: GatedRequest.ID) -> Bool

    /// The outcomes to send, of those that the engine has found.
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
    /// `nil` if no user is signed in.
    package let userRecordName: String?
    package let request: AdmittedRequest
}

/// The verdict of a gate about a request.
package enum GateDecision: Sendable {
    /// Execute the request, possibly reduced, when its turn comes.
    case execute(AdmittedRequest)
    /// Execute it after a delay.
    case delay(Duration, AdmittedRequest)
    /// Execute it when the gate calls the given closure, once and on any thread.
    case hold(AdmittedRequest, until: @Sendable (@escaping @Sendable () -> Void) -> Void)
    /// Send this response without executing the request.
    case respond(Outcomes)
    case fail(Failure)
    case breakConnection
}
