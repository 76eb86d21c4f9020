package import NIOCore

/// Bounds on the memory that clients can make the endpoint hold, and on its waits for them.
package struct EndpointBounds: Sendable {
    package static let defaults = EndpointBounds()

    /// Connections at the same time; of those without a request, the longest waiting goes for another.
    package var connectionsMax = 16
    /// Bytes of a request, with whatever was sent behind it.
    package var requestBytesMax = 16 * 1_024
    /// From the connection, or the last response, to the end of a request.
    ///
    /// Longer than the interval of most collectors, which then keep their connection.
    package var requestTimeout = TimeAmount.seconds(75)
    /// From the end of a request until the client has taken the response.
    package var responseTimeout = TimeAmount.seconds(30)
    /// Between two lines of the log about clients that were turned away.
    package var lineInterval = TimeAmount.seconds(60)

    package init() {}
}
