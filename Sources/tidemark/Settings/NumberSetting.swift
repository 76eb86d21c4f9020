// A table: one row a setting.
import RecordModel
import RecordServer
import RecordStore

/// A setting that is a whole number.
struct NumberSetting: Sendable {
    /// As in a file; upper-cased and after `TIDEMARK_` in the environment.
    let name: String
    let range: ClosedRange<Int>
    let meaning: String
    let read: @Sendable (Settings) -> Int
    let assign: @Sendable (inout Settings, Int) -> Void

    private init<Value: FixedWidthInteger & SendableMetatype>(
        _ name: String,
        _ path: any WritableKeyPath<Settings, Value> & Sendable,
        _ range: ClosedRange<Int>,
        _ meaning: String
    ) {
        self.name = name
        self.range = range
        self.meaning = meaning
        self.read = { Int($0[keyPath: path]) }
        self.assign = { $0[keyPath: path] = Value($1) }
    }

    /// Whether operators rarely need it, because the default is nearly always right.
    var isAdvanced: Bool { !Self.common.contains(self.name) }

    private static let common: Set = [
        "connections_max", "user_bytes_max", "container_bytes_max", "asset_bytes_max",
        "disk_reserve_bytes", "tombstone_retention_s", "drain_timeout_s",
    ]

    /// Whether SIGHUP is enough for a new value, without a restart.
    var isReloadable: Bool { Self.reloadable.contains(self.name) }

    private static let reloadable: Set = [
        "user_bytes_max", "container_bytes_max", "disk_reserve_bytes", "drain_timeout_s",
    ]

    static let all: [NumberSetting] = bounds + timeouts + memory + assets + operation + storage + identity

    /// The maximum payload of a frame that clients take, without its framing.
    private static let payloadBytesMax = ClientBounds.frameBytesMax - Bounds.requestFramingBytesMax

    private static let bounds: [NumberSetting] = [
        .init(
            "frame_bytes_max",
            \.server.bounds.frameBytesMax,
            65_536...ClientBounds.frameBytesMax,
            "payload of a frame"
        ),
        .init("request_items_max", \.server.bounds.requestItemsMax, 1...100_000, "items of a request"),
        .init(
            "request_bytes_max",
            \.server.bounds.requestBytesMax,
            4_096...Self.payloadBytesMax,
            "encoded request"
        ),
        .init(
            "record_bytes_max",
            \.server.bounds.recordBytesMax,
            1_024...Self.payloadBytesMax,
            "encoded body of a record"
        ),
        .init("in_flight_max", \.server.bounds.inFlightMax, 1...65_536, "requests in flight on a connection"),
        .init(
            "share_misses_per_minute_max",
            \.server.bounds.shareMissesPerMinuteMax,
            1...1_000_000,
            "unknown share URLs of a user"
        ),
        .init(
            "delete_self_references_max",
            \.server.bounds.deleteSelfReferencesMax,
            1...1_000_000,
            "delete_self references to a record"
        ),
        .init(
            "connections_max",
            \.server.listen.connectionsMax,
            1...1_000_000,
            "connections at the same time"
        ),
    ]

    private static let timeouts: [NumberSetting] = [
        .init(
            "handshake_timeout_ms",
            \.server.timeouts.handshake.wholeMilliseconds,
            100...600_000,
            "TLS and handshake together"
        ),
        .init(
            "idle_timeout_ms",
            \.server.timeouts.idle.wholeMilliseconds,
            100...86_400_000,
            "silence before a ping"
        ),
        .init(
            "frame_timeout_ms",
            \.server.timeouts.frame.wholeMilliseconds,
            100...3_600_000,
            "time until a frame that has begun is complete"
        ),
        .init(
            "deadline_ms_max",
            \.server.timeouts.deadlineMax.wholeMilliseconds,
            100...3_600_000,
            "longest deadline of a request"
        ),
        .init(
            "slow_reader_timeout_ms",
            \.server.timeouts.slowReader.wholeMilliseconds,
            100...3_600_000,
            "how long responses wait for a slow reader"
        ),
        .init(
            "request_id_retention_s",
            \.server.storage.requestIDRetentionSeconds,
            60...604_800,
            "how long request IDs are kept"
        ),
    ]

    private static let memory: [NumberSetting] = [
        .init(
            "connection_window_bytes",
            \.server.memory.connectionWindowBytes,
            65_536...1_073_741_824,
            "window, client to server"
        ),
        .init(
            "responses_held_bytes_max",
            \.server.memory.responsesHeldBytesMax,
            65_536...1_073_741_824,
            "responses of a connection that wait"
        ),
        .init(
            "responses_held_total_bytes_max",
            \.server.memory.responsesHeldTotalBytesMax,
            65_536...1_099_511_627_776,
            "responses of all connections that wait"
        ),
        .init(
            "unfinished_bytes_max",
            \.server.memory.unfinishedBytesMax,
            1_048_576...1_099_511_627_776,
            "incomplete frames of all connections"
        ),
        .init(
            "response_bytes_max",
            \.server.bounds.responseBytesMax,
            1_024...ClientBounds.responseBytesMax,
            "encoded bodies in the response to a fetch"
        ),
        .init("writer_requests_max", \.writer.requestsMax, 1...1_000_000, "requests waiting for the writer"),
        .init(
            "writer_wait_ms",
            \.writer.waitMilliseconds,
            1...60_000,
            "work waiting for the writer, as time to execute it"
        ),
        .init(
            "reader_wait_ms",
            \.writer.readerWaitMilliseconds,
            1...60_000,
            "work waiting for read threads, as time to execute it"
        ),
        .init(
            "read_threads",
            \.writer.readThreads,
            1...1_024,
            "threads for queries, and as many for other long reads (one per processor)"
        ),
        .init(
            "writer_bytes_max",
            \.writer.bytesMax,
            1_048_576...1_099_511_627_776,
            "bytes waiting for the writer"
        ),
    ]

    private static let assets: [NumberSetting] = [
        .init("asset_bytes_max", \.server.bounds.assetBytesMax, 1...35_184_372_088_832, "an asset"),
        .init(
            "asset_timeout_ms",
            \.server.assets.timeout.wholeMilliseconds,
            100...3_600_000,
            "silence of an upload or a download"
        ),
        .init(
            "uploads_max",
            \.server.assets.uploadsMax,
            1...65_536,
            "uploads that receive bytes at the same time"
        ),
        .init(
            "upload_window_bytes",
            \.server.assets.uploadWindowBytes,
            65_536...1_073_741_824,
            "window of an upload"
        ),
        .init(
            "asset_chunk_bytes",
            \.server.storage.assetChunkBytes,
            65_536...1_073_741_824,
            "bytes of an upload that a kill may cost"
        ),
        .init(
            "disk_reserve_bytes",
            \.diskReserveBytes,
            0...1_152_921_504_606_846_976,
            "free disk space that uploads leave to the database"
        ),
        .init(
            "asset_sweep_interval_s",
            \.server.assets.sweepInterval.wholeSeconds,
            1...86_400,
            "between two sweeps of unnamed assets"
        ),
        .init("asset_threads", \.assetThreads, 1...1_024, "threads that read and write assets"),
    ]

    private static let operation: [NumberSetting] = [
        .init("threads", \.server.threadCount, 0...1_024, "event loops; 0: one per core"),
        .init(
            "metrics_interval_s",
            \.metricsIntervalSeconds,
            0...86_400,
            "seconds between two lines of metrics in the log (at debug with metrics_file); 0: none"
        ),
        .init(
            "metrics_file_interval_s",
            \.metricsFileIntervalSeconds,
            1...86_400,
            "seconds between two updates of metrics_file"
        ),
        .init(
            "log_file_bytes_max",
            \.logFileBytesMax,
            65_536...1_099_511_627_776,
            "log_file and its older half"
        ),
        .init(
            "tombstone_retention_s",
            \.server.storage.tombstoneRetentionSeconds,
            3_600...3_153_600_000,
            "how long deletions are kept"
        ),
        .init(
            "drain_timeout_s",
            \.drainSeconds,
            0...3_600,
            "how long a shutdown waits for requests in flight"
        ),
    ]

    private static let storage: [NumberSetting] = [
        .init(
            "asset_grace_s",
            \.server.storage.assetGraceSeconds,
            1...31_536_000,
            "how long an asset without a record is kept, and an upload without a byte; "
                + "less while the disk or a quota has no room"
        ),
        .init(
            "user_bytes_max",
            \.server.storage.quotas.userBytes,
            0...1_152_921_504_606_846_976,
            "records and assets of a user, private; 0: no quota"
        ),
        .init(
            "container_bytes_max",
            \.server.storage.quotas.containerBytes,
            0...1_152_921_504_606_846_976,
            "records and assets of a container; 0: no quota"
        ),
    ]

    private static let identity: [NumberSetting] = [
        .init(
            "jwt_leeway_s",
            \.identity.leewaySeconds,
            0...3_600,
            "by how much the clock of an identity provider may differ"
        ),
        .init(
            "jwt_create_users",
            \.identity.createsUsers.asInteger,
            0...1,
            "1: unknown users of an identity provider are added; 0: they are refused"
        ),
    ]
}

extension Duration {
    fileprivate var wholeMilliseconds: Int {
        get {
            Int(self.components.seconds) * 1_000 + Int(self.components.attoseconds / 1_000_000_000_000_000)
        }
        set { self = .milliseconds(newValue) }
    }

    fileprivate var wholeSeconds: Int {
        get { Int(self.components.seconds) }
        set { self = .seconds(newValue) }
    }
}

extension Bool {
    fileprivate var asInteger: Int {
        get { self ? 1 : 0 }
        set { self = newValue == 1 }
    }
}

extension ServerConfiguration {
    /// Event loops; 0 stands for one a core.
    fileprivate var threadCount: Int {
        get { self.threads ?? 0 }
        set { self.threads = newValue == 0 ? nil : newValue }
    }
}
