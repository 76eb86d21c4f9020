import NIOCore

/// The number of bytes that downloads may have under way.
///
/// A large window keeps the disk, both processors and the network busy at the same time. A small
/// one gives other requests their turns. So downloads have the announced window while anything
/// else travels, and a larger one when nothing else has travelled for a while.
struct DownloadWindow {
    /// Of one download, and of all together.
    static let bytesMax = 8 * 1_024 * 1_024
    static let totalBytesMax = 16 * 1_024 * 1_024
    /// The time after the last other request from which on transfers may use the whole connection.
    static let quiet = TimeAmount.seconds(1)

    private var busyUntil = NIODeadline.uptimeNanoseconds(0)

    /// A request was sent that is no transfer.
    mutating func requestSent(now: NIODeadline) { self.busyUntil = now + Self.quiet }

    /// The window of a download while this many are under way, at least one; `nil` if it is the
    /// announced one.
    func bytes(downloads: Int, now: NIODeadline) -> UInt32? {
        guard now >= self.busyUntil else { return nil }
        return UInt32(min(Self.bytesMax, Self.totalBytesMax / downloads))
    }
}
