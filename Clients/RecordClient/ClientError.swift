package import WireProtocol

/// Why a request got no response from the server, or one that says that it failed.
package enum ClientError: Error, Hashable, Sendable {
    /// The server's own response to the whole request.
    case refused(Failure)
    /// The server ended the connection with a reason that connecting again does not mend.
    case rejected(reason: CloseReason, message: String)
    /// No connection within the request's time: nothing was sent, or the operation changes nothing.
    case unreachable(description: String)
    /// The same, and this machine has no network at all.
    case offline(description: String)
    /// No connection is possible until the address, the authority or the token is corrected. The
    /// text says which.
    case misconfigured(description: String)
    /// Sent, and no response within the request's time: whether it took effect is unknown.
    case responseLost
    case cancelled
    /// The server's bytes break the protocol.
    case protocolViolation(WireError)
    /// The file of a transfer.
    case fileFailed(FileFailure)
    /// The client was shut down.
    case closed
}
