/// What the peer lets this side send, in payload bytes.
///
/// A frame may go while the window is positive and may take it below zero: so one frame larger than the window passes,
/// and the excess is one frame at most.
///
/// - Source: `Protocol/README.md`, section 6.
struct SendWindow: Hashable, Sendable {
    static let bytesMax: Int64 = 2_147_483_647

    private let startBytes: Int64
    private(set) var bytes: Int64
    /// What was sent and not given back.
    private var takenBytes: Int64 = 0

    init(bytes: UInt32) {
        self.startBytes = Int64(bytes)
        self.bytes = Int64(bytes)
    }

    /// Whether a grant gives back what was sent, and at least half of what the window began with: then the peer has taken as much.
    ///
    /// A grant that makes the window larger than it was does not.
    func isEarned(_ count: UInt32) -> Bool {
        2 * Int64(count) >= self.startBytes && Int64(count) <= self.takenBytes
    }

    var isOpen: Bool { self.bytes > 0 }

    mutating func sent(_ count: Int) {
        self.bytes -= Int64(count)
        self.takenBytes += Int64(count)
    }

    /// Adds what the peer granted.
    ///
    /// `false`: the grant is 0 or takes the window beyond its bound, and nothing was added.
    mutating func granted(_ count: UInt32) -> Bool {
        let sum = self.bytes + Int64(count)
        guard count > 0, sum <= Self.bytesMax else { return false }
        self.bytes = sum
        self.takenBytes = max(0, self.takenBytes - Int64(count))
        return true
    }
}

/// What this side lets the peer send, in payload bytes: what arrives takes from it, and what was disposed of is granted
/// again once it is half of the window.
///
/// Never stuck: a window that is used up and whose frames are all disposed of has at least its size to grant.
///
/// - Source: `Protocol/README.md`, section 6.
struct ReceiveWindow: Hashable, Sendable {
    private let grantThresholdBytes: Int64
    private(set) var bytes: Int64
    private var disposedBytes: Int64 = 0

    init(bytes: UInt32) {
        self.bytes = Int64(bytes)
        self.grantThresholdBytes = max(1, Int64(bytes) / 2)
    }

    /// A frame arrived.
    ///
    /// `false`: it was sent without credit.
    mutating func received(_ count: Int) -> Bool {
        guard self.bytes > 0 else { return false }
        self.bytes -= Int64(count)
        return true
    }

    /// The memory of frames was given back.
    ///
    /// Answers what to grant now; 0: nothing yet.
    mutating func disposed(_ count: Int) -> UInt32 {
        self.disposedBytes += Int64(count)
        guard self.disposedBytes >= self.grantThresholdBytes else { return 0 }
        let grant = min(self.disposedBytes, SendWindow.bytesMax - max(0, self.bytes))
        self.bytes += grant
        self.disposedBytes -= grant
        return UInt32(grant)
    }
}
