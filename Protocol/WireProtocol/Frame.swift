package import NIOCore

/// One frame: a fixed header of 10 bytes and a payload.
///
///      0               4    5     6               10
///     +---------------+----+-----+---------------+---------------
///     | payload bytes |kind|flags| stream number | payload …
///     +---------------+----+-----+---------------+---------------
///      UInt32          UInt8 UInt8 UInt32          0 … frameBytesMax bytes     (network byte order)
///
/// - Source: `Protocol/README.md`, section 2.
package struct Frame: Hashable, Sendable {
    package static let headerBytes = 10

    package var kind: FrameKind
    /// 0 in this version; a receiver ignores unknown bits.
    package var flags: UInt8
    /// 0 for the connection itself.
    ///
    /// Clients open odd numbers in ascending order; even ones are reserved for the server.
    package var stream: UInt32
    package var payload: ByteBuffer

    package init(kind: FrameKind, flags: UInt8 = 0, stream: UInt32 = 0, payload: ByteBuffer = ByteBuffer()) {
        self.kind = kind
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }
}

/// The kind of a frame.
package struct FrameKind: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let hello = FrameKind(rawValue: 1)
    package static let welcome = FrameKind(rawValue: 2)
    package static let goaway = FrameKind(rawValue: 3)
    package static let request = FrameKind(rawValue: 4)
    package static let items = FrameKind(rawValue: 5)
    package static let end = FrameKind(rawValue: 6)
    package static let cancel = FrameKind(rawValue: 7)
    package static let ping = FrameKind(rawValue: 8)
    package static let pong = FrameKind(rawValue: 9)
    package static let credit = FrameKind(rawValue: 10)
    package static let assetData = FrameKind(rawValue: 11)
    package static let progress = FrameKind(rawValue: 12)
    package static let assetOffsets = FrameKind(rawValue: 13)
    package static let notification = FrameKind(rawValue: 14)
    package static let notificationAck = FrameKind(rawValue: 15)
    package static let challenge = FrameKind(rawValue: 16)
    package static let proof = FrameKind(rawValue: 17)

    /// Longest payload of a kind that carries neither requests, responses nor assets.
    package static let smallPayloadBytesMax = 64 * 1024

    /// Longest payload of this kind on a connection that limits payloads to `payloadBytesMax`.
    func payloadBytesMax(of payloadBytesMax: Int) -> Int {
        switch self {
        case .request, .items, .end, .assetData, .assetOffsets: payloadBytesMax
        default: min(payloadBytesMax, Self.smallPayloadBytesMax)
        }
    }
}
