import AssetStore
public import Logging
package import RecordModel
import RecordServer
import RecordStore
import SQLiteEngine

extension TestServer {
    /// The settings of a test server.
    public struct Options: Sendable {
        /// The default settings: data survive the process, but not a loss of power; no limit on the
        /// data.
        public static let defaults = Options()

        /// When the server responds to a save.
        public enum Durability: Hashable, Sendable {
            /// When every other request sees the change; fast.
            case relaxed
            /// When the change is on disk, as a server in production.
            case full
        }

        /// When the server responds to a save.
        public var durability = Durability.relaxed
        /// The size of the disk in bytes; `nil` if that of the real disk.
        ///
        /// A save beyond it fails as on a server with a full disk. A new server needs about
        /// 200,000.
        public var diskBytesMax: Int?
        /// The bytes that each user may store, in records and assets of the private database; `nil`
        /// if unlimited.
        ///
        /// A save beyond it fails with `quotaExceeded`.
        public var userBytesMax: Int64?
        /// The bytes that a container may store, in all its databases; `nil` if unlimited.
        public var containerBytesMax: Int64?
        /// Another destination of the server's log; `nil` if there is none.
        ///
        /// `TestServer.log` has the last lines in any case.
        public var logger: Logger?
        /// Limits of the protocol, for tests of the bounds.
        package var bounds = Bounds.defaults
        /// How long responses wait for a client that does not read them.
        package var slowReaderTimeout = Duration.seconds(30)

        /// Makes the default settings.
        public init() {}

        private static let pageBytes = 4_096
        /// Ten years: a test moves the clock by days, and its requests must not count as old
        /// replays.
        private static let requestIDRetentionSeconds = 10 * 365 * 86_400

        func engine(folder: String) -> SQLiteEngineConfiguration {
            var housekeeping = HousekeepingRules()
            housekeeping.requestIDRetentionSeconds = Self.requestIDRetentionSeconds
            var configuration = SQLiteEngineConfiguration(
                directory: folder,
                housekeeping: Housekeeping.maker(housekeeping)
            )
            configuration.durability = self.durability == .full ? .full : .relaxed
            configuration.filePagesMax = self.diskBytesMax.map { max($0 / Self.pageBytes, 1) }
            return configuration
        }

        func rules(clock: TestClock) -> StoreConfiguration {
            var rules = StoreConfiguration { clock.milliseconds }
            rules.bounds = self.bounds
            rules.quotas = self.quotas
            rules.requestIDRetentionSeconds = Self.requestIDRetentionSeconds
            return rules
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
            // Tests run in parallel: one loop per core for each of them would be many threads.
            configuration.threads = 1
            return configuration
        }
    }
}
