/// Why the endpoint cannot listen.
package enum EndpointFailure: Error, Hashable, Sendable {
    /// A file at the path of the Unix socket is not a socket.
    case notASocket
    /// The path of the Unix socket is longer than the system permits.
    case pathTooLong
    /// The system's error.
    case refused(errno: Int32)
}
