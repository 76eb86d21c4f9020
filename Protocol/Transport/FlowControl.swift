/// The credit that the peer gives this side, in payload bytes.
///
/// A frame may go while the window is positive and may take it below zero. So one frame larger than
/// the window passes, and the excess is one frame at most.
///
/// - Source: `Protocol/README.md`, section 6.
@usableFromInline
package struct SendWindow: Hashable, Sendable {
    /// The most that a window may hold.
    @inlinable package static var bytesMax: Int64 { 2_147_483_647 }

    @usableFromInline let startBytes: Int64
    /// Bytes that may still be sent.
    @usableFromInline package internal(set) var bytes: Int64
    /// Bytes that were sent and whose credit has not come back.
    @usableFromInline var takenBytes: Int64 = 0

    @inlinable
    package init(bytes: UInt32) {
        self.startBytes = Int64(bytes)
        self.bytes = Int64(bytes)
    }

    /// Whether a grant gives back what was sent, and at least half of what the window began with.
    ///
    /// The peer then has taken as much. A grant that makes the window larger than it was is not earned.
    @inlinable
    package func isEarned(_ count: UInt32) -> Bool {
        2 * Int64(count) >= self.startBytes && Int64(count) <= self.takenBytes
    }

    /// Whether a frame may go now.
    @inlinable package var isOpen: Bool { self.bytes > 0 }

    /// A frame went out.
    @inlinable
    package mutating func sent(_ count: Int) {
        self.bytes -= Int64(count)
        self.takenBytes += Int64(count)
    }

    /// Adds what the peer granted.
    ///
    /// - Returns: `false` if the grant is 0 or takes the window beyond its bound; nothing was added.
    @inlinable
    package mutating func granted(_ count: UInt32) -> Bool {
        let sum = self.bytes + Int64(count)
        guard count > 0, sum <= Self.bytesMax else { return false }
        self.bytes = sum
        self.takenBytes = max(0, self.takenBytes - Int64(count))
        return true
    }
}

/// The credit that this side gives the peer, in payload bytes.
///
/// A frame takes from the window when it arrives. Once this side has disposed of its bytes they can
/// be granted again, so that what may come and what is held make up the window's size. Small grants
/// wait until they are worth a frame: see `GrantThreshold`.
///
/// Never stuck: a window that is used up and whose frames are all disposed of has its size to grant.
///
/// - Source: `Protocol/README.md`, section 6.
@usableFromInline
package struct ReceiveWindow: Hashable, Sendable {
    /// The smallest grant, as a part of the window's size.
    @usableFromInline
    package enum GrantThreshold: Int64, Sendable {
        case half = 2
        case quarter = 4
    }

    /// The credit at the beginning.
    @usableFromInline let startBytes: Int64
    @usableFromInline let threshold: GrantThreshold
    /// Bytes that may still come; below zero by a part of a frame at most.
    @usableFromInline package internal(set) var bytes: Int64
    /// Bytes that came and are not yet disposed of.
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
    /// The window has this size from now on; the size it began with if that is `nil`. A window grows
    /// with a grant, and shrinks as bytes come.
    ///
    /// - Returns: What to grant now; 0 if that is nothing yet.
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
