package import RecordModel
package import RecordStore
package import WireProtocol

/// The settings of a server.
///
/// Units are in the names; `Protocol/README.md`, section 7, gives the reason for each limit.
package struct ServerConfiguration: Hashable, Sendable {
    /// Where the server listens.
    package struct Listen: Hashable, Sendable {
        package static let defaults = Listen()

        package var host = "127.0.0.1"
        /// 0 means any free port.
        package var port = ProtocolVersion.defaultPort
        /// Length of the kernel's queue of connections that wait to be accepted.
        package var backlogConnections: Int32 = 1_024
        /// Maximum number of connections: no holder may have more of them than are left for the
        /// others.
        package var connectionsMax = 10_000

        package init() {}
    }

    /// How long the server waits for a peer.
    package struct Timeouts: Hashable, Sendable {
        package static let defaults = Timeouts()

        /// Timeout of TLS and the handshake together.
        package var handshake = Duration.seconds(10)
        /// Silence before a ping; 10 seconds of silence after it end the connection.
        package var idle = Duration.seconds(60)
        /// Maximum time from a frame's first byte to its last.
        package var frame = Duration.seconds(60)
        /// Longest deadline of a request; a longer or absent one is cut to it.
        package var deadlineMax = Duration.seconds(60)
        /// How long responses wait for a client that does not take them.
        package var slowReader = Duration.seconds(30)

        package init() {}
    }

    /// Limits of the memory that one client, and all together, can use.
    package struct Memory: Hashable, Sendable {
        package static let defaults = Memory()

        /// Bytes of requests that a connection may send before more credit is granted.
        ///
        /// Below 2^31.
        package var connectionWindowBytes: UInt32 = 4 * 1_024 * 1_024
        /// Bytes of responses of one connection that wait for the client: beyond this no further
        /// request is executed.
        package var responsesHeldBytesMax = 8 * 1_024 * 1_024
        /// Bytes of responses of all connections that wait, or are being read: no holder may have
        /// more of it than is left for the others.
        package var responsesHeldTotalBytesMax = 512 * 1_024 * 1_024
        /// Bytes of incomplete frames of all connections: no holder may have more of it than is
        /// left for the others.
        package var unfinishedBytesMax = 256 * 1_024 * 1_024

        package init() {}
    }

    /// Uploads and downloads.
    package struct Assets: Hashable, Sendable {
        package static let defaults = Assets()

        /// Uploads of all connections that receive bytes at the same time; others wait.
        package var uploadsMax = 64
        /// Maximum number of bytes that an upload may send before earlier ones are written; doubled
        /// while nothing else travels on its connection.
        ///
        /// Below 2^30.
        package var uploadWindowBytes: UInt32 = 1_024 * 1_024
        /// Sum of all upload windows: many uploads get smaller windows, at least 256 KiB.
        package var uploadWindowsBytes = 24 * 1_024 * 1_024
        /// Maximum number of bytes of a connection's downloads between disk and socket.
        package var downloadAheadBytes = 1_024 * 1_024
        /// Sum over all connections: many get less, at least 16 KiB.
        package var downloadsAheadBytes = 24 * 1_024 * 1_024
        /// How long an upload waits for bytes, and a download for credit.
        package var timeout = Duration.seconds(60)
        /// How long an upload may be silent when another one waits for the same asset.
        package var contestedTimeout = Duration.seconds(5)
        /// Interval of progress messages to an upload that waits for its turn or for recovered
        /// bytes.
        package var lifeInterval = Duration.seconds(2)
        /// Interval of the sweep that removes unreferenced assets.
        package var sweepInterval = Duration.seconds(60)

        package init() {}
    }

    /// Settings of the engine and the asset files; some are sent to clients.
    package struct Storage: Hashable, Sendable {
        package static let defaults = Storage()

        /// How long a request ID is remembered.
        package var requestIDRetentionSeconds = 3_600
        /// How long feeds report deletions.
        package var tombstoneRetentionSeconds = 31_536_000
        /// How long an unreferenced asset is kept, and an upload that receives no bytes.
        package var assetGraceSeconds = 86_400
        /// Bytes of an upload between two syncs to disk.
        package var assetChunkBytes = 8 * 1_024 * 1_024
        package var quotas = StorageQuotas.none

        package init() {}
    }

    package static let defaults = ServerConfiguration()

    package var listen = Listen.defaults
    package var bounds = Bounds.defaults
    package var timeouts = Timeouts.defaults
    package var memory = Memory.defaults
    package var assets = Assets.defaults
    package var storage = Storage.defaults
    /// Event loops; `nil` for one per core.
    package var threads: Int?
    /// Name, version and build of the server, for people.
    package var serverName = "tidemark/\(Release.version) (\(Release.build))"

    package init() {}

    /// The limits sent in the welcome.
    package var limits: Limits {
        var limits = Limits()
        limits.frameBytesMax = UInt32(clamping: self.bounds.frameBytesMax)
        limits.requestItemsMax = UInt32(clamping: self.bounds.requestItemsMax)
        limits.requestBytesMax = UInt32(clamping: self.bounds.requestBytesMax)
        limits.recordBytesMax = UInt32(clamping: self.bounds.recordBytesMax)
        limits.inFlightMax = UInt32(clamping: self.bounds.inFlightMax)
        limits.idleTimeoutMilliseconds = UInt32(clamping: self.timeouts.idle.wholeMilliseconds)
        limits.requestIDRetentionSeconds = UInt32(clamping: self.storage.requestIDRetentionSeconds)
        limits.deadlineMillisecondsMax = UInt32(clamping: self.timeouts.deadlineMax.wholeMilliseconds)
        limits.responseBytesMax = UInt32(clamping: self.bounds.responseBytesMax)
        limits.assetBytesMax = UInt64(clamping: self.bounds.assetBytesMax)
        limits.assetChunkBytes = UInt32(clamping: self.storage.assetChunkBytes)
        limits.assetTimeoutMilliseconds = UInt32(clamping: self.assets.timeout.wholeMilliseconds)
        limits.assetGraceSeconds = UInt32(clamping: self.storage.assetGraceSeconds)
        limits.slowReaderTimeoutMilliseconds = UInt32(clamping: self.timeouts.slowReader.wholeMilliseconds)
        limits.tombstoneRetentionSeconds = UInt32(clamping: self.storage.tombstoneRetentionSeconds)
        limits.deleteSelfReferencesMax = UInt32(clamping: self.bounds.deleteSelfReferencesMax)
        limits.shareMissesPerMinuteMax = UInt32(clamping: self.bounds.shareMissesPerMinuteMax)
        limits.userBytesMax = UInt64(clamping: self.storage.quotas.userBytes)
        return limits
    }

    var windows: Windows {
        Windows(
            connectionBytes: self.memory.connectionWindowBytes,
            streamBytes: self.memory.connectionWindowBytes
        )
    }

    var connectionBounds: ConnectionBounds {
        ConnectionBounds(
            inFlightMax: self.bounds.inFlightMax,
            receiveWindowBytes: self.memory.connectionWindowBytes
        )
    }
}

extension Duration {
    var wholeMilliseconds: Int64 {
        let parts = self.components
        return parts.seconds * 1_000 + parts.attoseconds / 1_000_000_000_000_000
    }
}
