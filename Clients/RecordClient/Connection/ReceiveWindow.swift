/// How many payload bytes of `items` frames this side is still ready to take, and how many it owes the server.
///
/// - Source: `Protocol/README.md`, section 6.
struct ReceiveWindow: Hashable {
    private let sizeBytes: Int64
    private var availableBytes: Int64
    private var consumedBytes: Int64 = 0

    init(bytes: UInt32) {
        self.sizeBytes = Int64(bytes)
        self.availableBytes = Int64(bytes)
    }

    /// - Returns: Whether the server had credit for the frame.
    mutating func receive(_ bytes: Int) -> Bool {
        guard self.availableBytes > 0 else { return false }
        self.availableBytes -= Int64(bytes)
        return true
    }

    /// Notes that bytes were disposed of.
    ///
    /// - Returns: What to grant now: nothing until half of the window is used, so that grants stay rare.
    mutating func consume(_ bytes: Int) -> UInt32? {
        self.consumedBytes += Int64(bytes)
        guard self.consumedBytes > 0, self.consumedBytes * 2 >= self.sizeBytes else { return nil }
        let grant = UInt32(clamping: self.consumedBytes)
        self.availableBytes += self.consumedBytes
        self.consumedBytes = 0
        return grant
    }
}
