import FileWriting
import RecordModel

/// Where files of assets are, and how they are written.
package struct AssetStoreConfiguration: Sendable {
    /// When bytes of an upload become durable.
    package struct Chunks: Hashable, Sendable {
        package static let defaults = Chunks()

        /// What a crash may cost.
        package var bytes = 8 * 1_024 * 1_024
        /// So much is made durable at a time; what comes while the disk is at it is at the most as much again.
        var stepBytes: Int { max(1, self.bytes / 2) }
        /// Less is not worth two syncs: it is sent again when an upload is cut off.
        package var bytesMin = 64 * 1_024
        /// The bytes of a larger asset go past the kernel's memory; others may be read soon, and stay there.
        package var keptBytesMax: Int64 = FileWriter.largeBytesMin - 1

        package init() {}

        func isLarge(_ asset: Asset) -> Bool { asset.size > self.keptBytesMax }
    }

    /// The folder: made when it is not there, in one that is.
    package var directory: String
    /// Threads that read and write; they are the only ones that wait for the disk.
    package var threads = 4
    package var chunks = Chunks.defaults
    /// Room on the disk that uploads leave to others: with a full disk the database can't save anything.
    ///
    /// More than what 64 uploads, each with a window on its way, can take at once.
    package var reserveBytes: @Sendable () -> Int64 = { 64 * 1_024 * 1_024 }
    /// For tests: which steps fail.
    package var faults: FileFaults?

    package init(directory: String) {
        self.directory = directory
    }
}
