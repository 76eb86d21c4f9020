/// The limits of what a client accepts from a server.
///
/// A broken or hostile server cannot take more of a client's memory and time. The limits of a
/// `welcome` apply where they are lower. `Protocol/README.md`, section 7.1, gives the reason for
/// each.
package enum ClientBounds {
    /// Payload of a frame before the `welcome`.
    package static let handshakeFrameBytesMax = 64 * 1024
    /// Payload of a frame after it.
    ///
    /// An operator can set no larger one.
    package static let frameBytesMax = 16 * 1024 * 1024
    /// Encoded bodies, zones or subscriptions of a response.
    ///
    /// An operator can set no larger one.
    package static let responseBytesMax = 64 * 1024 * 1024
    /// Overhead of one of them in a response, in bytes.
    package static let itemFramingBytesMax = 4 * 1024
    /// Items of one `items` frame.
    package static let frameItemsMax = 100_000
    /// Fields of one `end` besides the lines of a schema's response.
    package static let endFieldsMax = 64
    /// Rows about permissions in the explanation of a record.
    package static let accessRowsMax = 1_000
    /// Requests in flight on one connection.
    package static let inFlightMax = 65_536
    /// The silence after which a server is pinged, as its `welcome` says.
    package static let idleTimeoutMilliseconds: ClosedRange<UInt32> = 100...86_400_000
    /// Maximum time that a server may keep a client from reconnecting.
    package static let retryAfterMillisecondsMax: UInt32 = 3_600_000
    /// The name of a server's version, and of the signed-in user, in bytes.
    package static let welcomeTextBytesMax = 1_024
}
