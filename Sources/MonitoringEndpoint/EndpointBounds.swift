package import NIOCore

/// Bounds on the memory that clients can use, and on the endpoint's timeouts.
package struct EndpointBounds: Sendable {
    package static let defaults = EndpointBounds()

    /// Maximum number of connections; the one that has waited longest without a request is closed
    /// for a new one.
    package var connectionsMax = 16
    /// Bytes of a request, including those sent after it.
    package var requestBytesMax = 16 * 1_024
    /// From the connection, or the last response, to the end of a request.
    ///
    /// Longer than the interval of most collectors, which then keep their connection.
    package var requestTimeout = TimeAmount.seconds(75)
    /// From the end of a request until the client has taken the response.
    package var responseTimeout = TimeAmount.seconds(30)
    /// Minimum time between two log lines about refused clients.
    package var lineInterval = TimeAmount.seconds(60)

    package init() {}
}
