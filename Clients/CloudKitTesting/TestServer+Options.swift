import AssetStore
public import Logging
package import RecordModel
import RecordServer
import RecordStore
import SQLiteEngine

extension TestServer {
    /// How a test server differs from the usual.
    public struct Options: Sendable {
        /// The usual: what is written survives the process, not a loss of power; no bound on the data.
        public static let defaults = Options()

        /// When an answer to a save leaves.
        public enum Durability: Hashable, Sendable {
            /// When every other request sees the change; fast.
            case relaxed
            /// When the change is on disk, as on a server in production.
            case full
        }

        /// When an answer to a save leaves.
        public var durability = Durability.relaxed
        /// Bytes of a disk that is full after so many: saves are then refused as on a server whose disk is full.
        ///
        /// `nil`: as many as there are. A new server needs about 200,000.
        public var diskBytesMax: Int?
        /// Bytes that each user may store, in records and assets of the private database; `nil` if as many as there are.
        ///
        /// A save beyond is refused with `quotaExceeded`.
        public var userBytesMax: Int64?
        /// Bytes that a container may store, in all its databases; `nil` if as many as there are.
        public var containerBytesMax: Int64?
        /// Where the server's log goes as well; `nil` if nowhere.
        ///
        /// The server keeps its last lines in any case: see `TestServer.log`.
        public var logger: Logger?
        /// Limits of the protocol, for tests of the bounds.
        package var bounds = Bounds.defaults
        /// How long answers wait for a client that does not take them.
        package var slowReaderTimeout = Duration.seconds(30)

        /// The usual.
        public init() {}

        private static let pageBytes = 4_096
        /// Ten years: a test moves the clock by days, and its requests must not look like replays from the past.
        private static let requestIDRetentionSeconds = 10 * 365 * 86_400

        func engine(folder: String) -> SQLiteEngineConfiguration {
            var configuration = SQLiteEngineConfiguration(directory: folder)
            configuration.durability = self.durability == .full ? .full : .relaxed
            configuration.bounds = self.bounds
            configuration.requestIDRetentionSeconds = Self.requestIDRetentionSeconds
            configuration.quotas = self.quotas
            configuration.filePagesMax = self.diskBytesMax.map { max($0 / Self.pageBytes, 1) }
            return configuration
        }

        private var quotas: StorageQuotas {
            StorageQuotas(userBytes: self.userBytesMax ?? 0, containerBytes: self.containerBytesMax ?? 0)
        }

        func files(folder: String) -> AssetStoreConfiguration {
            var configuration = AssetStoreConfiguration(directory: folder + "/assets")
            configuration.threads = 2
            return configuration
        }

        func server(port: Int) -> ServerConfiguration {
            var configuration = ServerConfiguration.defaults
            configuration.listen.host = "127.0.0.1"
            configuration.listen.port = port
            configuration.bounds = self.bounds
            configuration.timeouts.slowReader = self.slowReaderTimeout
            configuration.storage.requestIDRetentionSeconds = Self.requestIDRetentionSeconds
            configuration.storage.quotas = self.quotas
            // Tests run side by side: a loop a core for each of them would be many threads.
            configuration.threads = 1
            return configuration
        }
    }
}
