import Foundation

/// Hands a large file to the disk while it is written, from its beginning to its end, and lets go of the kernel's copy.
///
/// A file that stays in the kernel's memory gets a new page for every 4 KiB, which takes several times as long as the writing does, and
/// pushes out what others read. Pages that were let go of are used again.
package struct WriteBehind: Sendable {
    /// Smaller files are likely to be read soon, and stay in memory.
    package static let fileBytesMin: Int64 = 32 * 1_024 * 1_024
    /// So much is handed to the disk at a time: whoever else waits for the disk waits for no more.
    package static let windowBytes: Int64 = 1_024 * 1_024
    /// So far behind the last window the kernel is asked again: by then a disk of the usual speed has taken what it was handed.
    private static let windows: Int64 = 16

    private let fileBytes: Int64
    /// The end of the last window.
    private var end: Int64 = 0

    /// - Parameter fileBytes: What the file will have in all.
    package init(fileBytes: Int64) {
        self.fileBytes = fileBytes
    }

    /// The file was written up to this place.
    ///
    /// Waits for nothing, and nothing is durable for it.
    package mutating func wrote(to offset: Int64, of descriptor: Int32) {
        guard self.fileBytes >= Self.fileBytesMin, offset - self.end >= Self.windowBytes else { return }
        self.end = offset
        let start = max(0, offset - Self.windows * Self.windowBytes)
        // Pages that are not on the disk begin to be written, others go. A file system that can't do it is as well without.
        _ = posix_fadvise(descriptor, off_t(start), off_t(offset - start), POSIX_FADV_DONTNEED)
    }
}
