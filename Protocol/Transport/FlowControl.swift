/// The credit that the peer grants this side, in payload bytes.
///
/// A frame may be sent while the window is positive, and may take it below zero. So one frame
/// larger than the window passes, and the excess is one frame at most.
///
/// - Source: `Protocol/README.md`, section 6.
@usableFromInline
package struct SendWindow: Hashable, Sendable {
    /// The maximum size of a window.
    @inlinable package static var bytesMax: Int64 { 2_147_483_647 }

    @usableFromInline let startBytes: Int64
    /// Bytes that may still be sent.
    @usableFromInline package internal(set) var bytes: Int64
    /// Bytes that were sent and not credited again.
    @usableFromInline var takenBytes: Int64 = 0

    @inlinable
    package init(bytes: UInt32) {
        self.startBytes = Int64(bytes)
        self.bytes = Int64(bytes)
    }

    /// Whether a grant returns sent bytes, and at least half of the window's initial size.
    ///
    /// The peer has then processed as many bytes. A grant that makes the window larger than before
    /// is not earned.
    @inlinable
    package func isEarned(_ count: UInt32) -> Bool {
        2 * Int64(count) >= self.startBytes && Int64(count) <= self.takenBytes
    }

    /// Whether a frame may be sent now.
    @inlinable package var isOpen: Bool { self.bytes > 0 }

    /// A frame was sent.
    @inlinable
    package mutating func sent(_ count: Int) {
        self.bytes -= Int64(count)
        self.takenBytes += Int64(count)
    }

    /// Adds a grant of the peer.
    ///
    /// - Returns: `false` if the grant is 0 or takes the window beyond its maximum; nothing was
    ///   added.
    @inlinable
    package mutating func granted(_ count: UInt32) -> Bool {
        let sum = self.bytes + Int64(count)
        guard count > 0, sum <= Self.bytesMax else { return false }
        self.bytes = sum
        self.takenBytes = max(0, self.takenBytes - Int64(count))
        return true
    }
}

/// The credit that this side grants the peer, in payload bytes.
///
/// A frame takes from the window when it arrives. Once this side has disposed of its bytes, they
/// can be granted again, so that expected and held bytes add up to the window's size. Small grants
/// wait until they are worth a frame: see `GrantThreshold`.
///
/// Never stuck: when a window is used up and all its frames are disposed of, its whole size can be
/// granted.
///
/// - Source: `Protocol/README.md`, section 6.
@usableFromInline
package struct ReceiveWindow: Hashable, Sendable {
    /// The smallest grant, as a fraction of the window's size.
    @usableFromInline
    package enum GrantThreshold: Int64, Sendable {
        case half = 2
        case quarter = 4
    }

    /// The initial credit.
    @usableFromInline let startBytes: Int64
    @usableFromInline let threshold: GrantThreshold
    /// Bytes that may still arrive; below zero by a part of a frame at most.
    @usableFromInline package internal(set) var bytes: Int64
    /// Bytes that arrived and are not yet disposed of.
    @usableFromInline var heldBytes: Int64 = 0

    @inlinable
    package init(bytes: UInt32, grantsFrom threshold: GrantThreshold = .half) {
        self.startBytes = Int64(bytes)
        self.threshold = threshold
        self.bytes = Int64(bytes)
    }

    /// A frame arrived.
    ///
    /// - Returns: `false` if the peer sent it without credit.
    @inlinable
    package mutating func received(_ count: Int) -> Bool {
        guard self.bytes > 0 else { return false }
        self.bytes -= Int64(count)
        self.heldBytes += Int64(count)
        return true
    }

    /// This side has disposed of the bytes of frames.
    ///
    /// The window has this size from now on; its initial size if `nil`. A window grows with a
    /// grant, and shrinks as bytes arrive.
    ///
    /// - Returns: The credit to grant now; 0 if there is none yet.
    @inlinable
    package mutating func disposed(_ count: Int, size: UInt32? = nil) -> UInt32 {
        self.heldBytes -= Int64(count)
        let size = size.map { Int64($0) } ?? self.startBytes
        let grant = size - self.bytes - self.heldBytes
        guard grant > 0, grant * self.threshold.rawValue >= size else { return 0 }
        self.bytes += grant
        return UInt32(clamping: grant)
    }
}
