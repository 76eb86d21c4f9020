import FileIO
import RecordModel

/// The folder of asset files, and the settings for writing them.
package struct AssetStoreConfiguration: Sendable {
    /// When the bytes of an upload become durable.
    package struct Chunks: Hashable, Sendable {
        package static let defaults = Chunks()

        /// Bound on the bytes that a crash may lose.
        package var bytes = 8 * 1_024 * 1_024
        /// Bytes that one sync makes durable.
        ///
        /// While it runs, at most as many again are received.
        var stepBytes: Int { max(1, self.bytes / 2) }
        /// Fewer bytes are not worth two syncs.
        ///
        /// They are sent again if an upload is cut off.
        package var bytesMin = 64 * 1_024
        /// The bytes of larger assets bypass the page cache.
        ///
        /// Smaller ones may be read soon, and stay there.
        package var keptBytesMax: Int64 = FileWriter.largeBytesMin - 1

        package init() {}

        func isLarge(_ asset: Asset) -> Bool { asset.size > self.keptBytesMax }
    }

    /// The folder, which is made if it does not exist; its parent must exist.
    package var directory: String
    /// Whether other servers write to the folder as well.
    ///
    /// Then each file is locked while an upload writes it.
    package var isShared = false
    /// Number of threads that read and write.
    ///
    /// No other threads wait for the disk.
    package var threads = 4
    package var chunks = Chunks.defaults
    /// Bytes that uploads must leave free on the disk.
    ///
    /// On a full disk the database cannot save anything.
    ///
    /// The default is more than 64 uploads, each with a window in flight, can take at once.
    package var reserveBytes: @Sendable () -> Int64 = { 64 * 1_024 * 1_024 }
    /// For tests: the steps that fail.
    package var faults: FileFaults?

    package init(directory: String) {
        self.directory = directory
    }
}
