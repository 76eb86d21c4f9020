package import NIOCore

/// Bounds on the memory and time that clients may take.
package struct WebBounds: Sendable {
    package static let defaults = WebBounds()

    /// Bytes of the request line and the fields.
    package var headBytesMax = 16 * 1_024
    package var fieldsMax = 100
    /// Bytes of a body with a credential.
    package var bodyBytesMax = 4 * 1_024 * 1_024
    /// Bytes of a body without one: such a request only reads.
    package var strangerBodyBytesMax = 512 * 1_024
    /// Bytes of JSON in a response.
    package var responseBytesMax = 32 * 1_024 * 1_024
    /// From the connection, or the last response, to the end of the next head.
    package var headTimeout = TimeAmount.seconds(60)
    /// From the head to the end of the body.
    package var bodyTimeout = TimeAmount.seconds(60)
    /// How long a client may go on sending after an early response.
    package var discardTimeout = TimeAmount.seconds(2)
    /// Bytes of a response that are written at a time.
    package var sliceBytes = 256 * 1_024

    package init() {}
}
