/// How many payload bytes of `request` frames the server is ready to take.
///
/// A frame may be sent while the window is positive, and may take it below zero.
/// - Source: `Protocol/README.md`, section 6.
struct SendWindow: Hashable {
    static let bytesMax: Int64 = (1 << 31) - 1

    private(set) var availableBytes: Int64

    init(bytes: UInt32) {
        self.availableBytes = Int64(bytes)
    }

    var isOpen: Bool { self.availableBytes > 0 }

    mutating func spend(_ bytes: Int) {
        self.availableBytes -= Int64(bytes)
    }

    /// - Returns: Whether the grant is one that a server may make: not 0, and the window stays within 2³¹−1.
    mutating func grant(_ bytes: UInt32) -> Bool {
        guard bytes > 0, self.availableBytes + Int64(bytes) <= Self.bytesMax else { return false }
        self.availableBytes += Int64(bytes)
        return true
    }
}
