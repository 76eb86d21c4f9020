/// How many payload bytes of `items` or `asset_data` frames this side is still ready to take, and how many it owes the server.
///
/// - Source: `Protocol/README.md`, section 6.
struct ReceiveWindow: Hashable {
    /// What the server was told in the handshake.
    private let announcedBytes: Int64
    private var availableBytes: Int64
    /// What came and was not disposed of.
    private var heldBytes: Int64 = 0

    init(bytes: UInt32) {
        self.announcedBytes = Int64(bytes)
        self.availableBytes = Int64(bytes)
    }

    /// - Returns: Whether the server had credit for the frame.
    mutating func receive(_ bytes: Int) -> Bool {
        guard self.availableBytes > 0 else { return false }
        self.availableBytes -= Int64(bytes)
        self.heldBytes += Int64(bytes)
        return true
    }

    /// Notes that bytes were disposed of.
    ///
    /// The window is to be `size` from now on: it grows with the grant, and shrinks as bytes come; `nil`, or less: what was announced.
    ///
    /// - Returns: What to grant now: nothing until it is half of the window, so that grants stay rare.
    mutating func consume(_ bytes: Int, size: UInt32? = nil) -> UInt32? {
        self.heldBytes -= Int64(bytes)
        let size = max(Int64(size ?? 0), self.announcedBytes)
        let grant = size - self.availableBytes - self.heldBytes
        guard grant > 0, grant * 2 >= size else { return nil }
        self.availableBytes += grant
        return UInt32(clamping: grant)
    }
}
