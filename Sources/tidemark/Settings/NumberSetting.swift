// A table: one row per setting.
import RecordModel
import RecordServer
import RecordStore

/// A setting that is a whole number.
struct NumberSetting: Sendable {
    /// The name in a file.
    ///
    /// In the environment it is in upper case, after `TIDEMARK_`.
    let name: String
    let range: ClosedRange<Int>
    let meaning: String
    let read: @Sendable (Settings) -> Int
    let assign: @Sendable (inout Settings, Int) -> Void

    private init(
        _ name: String,
        _ range: ClosedRange<Int>,
        _ meaning: String,
        read: @escaping @Sendable (Settings) -> Int,
        assign: @escaping @Sendable (inout Settings, Int) -> Void
    ) {
        self.name = name
        self.range = range
        self.meaning = meaning
        self.read = read
        self.assign = assign
    }

    static let all: [NumberSetting] = bounds + timeouts + memory + assets + operation + storage + identity

    private static let bounds: [NumberSetting] = [
        NumberSetting("frame_bytes_max", 65_536...268_435_456, "payload of a frame") {
            $0.server.bounds.frameBytesMax
        } assign: {
            $0.server.bounds.frameBytesMax = $1
        },
        NumberSetting("request_items_max", 1...100_000, "items of a request") {
            $0.server.bounds.requestItemsMax
        } assign: {
            $0.server.bounds.requestItemsMax = $1
        },
        NumberSetting("request_bytes_max", 4_096...268_000_000, "encoded request") {
            $0.server.bounds.requestBytesMax
        } assign: {
            $0.server.bounds.requestBytesMax = $1
        },
        NumberSetting("record_bytes_max", 1_024...268_000_000, "encoded body of a record") {
            $0.server.bounds.recordBytesMax
        } assign: {
            $0.server.bounds.recordBytesMax = $1
        },
        NumberSetting("in_flight_max", 1...65_536, "requests in flight on a connection") {
            $0.server.bounds.inFlightMax
        } assign: {
            $0.server.bounds.inFlightMax = $1
        },
        NumberSetting(
            "share_misses_per_minute_max",
            1...1_000_000,
            "unknown share URLs of a user"
        ) {
            $0.server.bounds.shareMissesPerMinuteMax
        } assign: {
            $0.server.bounds.shareMissesPerMinuteMax = $1
        },
        NumberSetting("delete_self_references_max", 1...1_000_000, "delete_self references to a record") {
            $0.server.bounds.deleteSelfReferencesMax
        } assign: {
            $0.server.bounds.deleteSelfReferencesMax = $1
        },
        NumberSetting("connections_max", 1...1_000_000, "connections at the same time") {
            $0.server.listen.connectionsMax
        } assign: {
            $0.server.listen.connectionsMax = $1
        },
    ]

    private static let timeouts: [NumberSetting] = [
        NumberSetting("handshake_timeout_ms", 100...600_000, "TLS and handshake together") {
            $0.server.timeouts.handshake.milliseconds
        } assign: {
            $0.server.timeouts.handshake = .milliseconds($1)
        },
        NumberSetting("idle_timeout_ms", 100...86_400_000, "silence before a ping") {
            $0.server.timeouts.idle.milliseconds
        } assign: {
            $0.server.timeouts.idle = .milliseconds($1)
        },
        NumberSetting("frame_timeout_ms", 100...3_600_000, "time until a frame that has begun is complete") {
            $0.server.timeouts.frame.milliseconds
        } assign: {
            $0.server.timeouts.frame = .milliseconds($1)
        },
        NumberSetting("deadline_ms_max", 100...3_600_000, "longest deadline of a request") {
            $0.server.timeouts.deadlineMax.milliseconds
        } assign: {
            $0.server.timeouts.deadlineMax = .milliseconds($1)
        },
        NumberSetting("slow_reader_timeout_ms", 100...3_600_000, "how long responses wait for a slow reader")
        {
            $0.server.timeouts.slowReader.milliseconds
        } assign: {
            $0.server.timeouts.slowReader = .milliseconds($1)
        },
        NumberSetting("request_id_retention_s", 60...604_800, "how long request IDs are kept") {
            $0.server.storage.requestIDRetentionSeconds
        } assign: {
            $0.server.storage.requestIDRetentionSeconds = $1
        },
    ]

    private static let memory: [NumberSetting] = [
        NumberSetting("connection_window_bytes", 65_536...1_073_741_824, "window, client to server") {
            Int($0.server.memory.connectionWindowBytes)
        } assign: {
            $0.server.memory.connectionWindowBytes = UInt32($1)
        },
        NumberSetting("answers_held_bytes_max", 65_536...1_073_741_824, "responses of a connection that wait")
        {
            $0.server.memory.answersHeldBytesMax
        } assign: {
            $0.server.memory.answersHeldBytesMax = $1
        },
        NumberSetting(
            "answers_held_total_bytes_max",
            65_536...1_099_511_627_776,
            "responses of all connections that wait"
        ) {
            $0.server.memory.answersHeldTotalBytesMax
        } assign: {
            $0.server.memory.answersHeldTotalBytesMax = $1
        },
        NumberSetting(
            "unfinished_bytes_max",
            1_048_576...1_099_511_627_776,
            "incomplete frames of all connections"
        ) {
            $0.server.memory.unfinishedBytesMax
        } assign: {
            $0.server.memory.unfinishedBytesMax = $1
        },
        NumberSetting("answer_bytes_max", 1_024...1_073_741_824, "encoded bodies in the response to a fetch")
        {
            $0.server.bounds.answerBytesMax
        } assign: {
            $0.server.bounds.answerBytesMax = $1
        },
        NumberSetting("writer_requests_max", 1...1_000_000, "requests waiting for the writer") {
            $0.writer.requestsMax
        } assign: {
            $0.writer.requestsMax = $1
        },
        NumberSetting("writer_wait_ms", 1...60_000, "work waiting for the writer, as time to execute it") {
            $0.writer.waitMilliseconds
        } assign: {
            $0.writer.waitMilliseconds = $1
        },
        NumberSetting("reader_wait_ms", 1...60_000, "work waiting for read threads, as time to execute it") {
            $0.writer.readerWaitMilliseconds
        } assign: {
            $0.writer.readerWaitMilliseconds = $1
        },
        NumberSetting(
            "read_threads",
            1...1_024,
            "threads for queries, and as many for other long reads (one per processor)"
        ) {
            $0.writer.readThreads
        } assign: {
            $0.writer.readThreads = $1
        },
        NumberSetting("writer_bytes_max", 1_048_576...1_099_511_627_776, "bytes waiting for the writer") {
            $0.writer.bytesMax
        } assign: {
            $0.writer.bytesMax = $1
        },
    ]

    private static let assets: [NumberSetting] = [
        NumberSetting("asset_bytes_max", 1...35_184_372_088_832, "an asset") {
            Int($0.server.bounds.assetBytesMax)
        } assign: {
            $0.server.bounds.assetBytesMax = Int64($1)
        },
        NumberSetting("asset_timeout_ms", 100...3_600_000, "silence of an upload or a download") {
            $0.server.assets.timeout.milliseconds
        } assign: {
            $0.server.assets.timeout = .milliseconds($1)
        },
        NumberSetting("uploads_max", 1...65_536, "uploads that receive bytes at the same time") {
            $0.server.assets.uploadsMax
        } assign: {
            $0.server.assets.uploadsMax = $1
        },
        NumberSetting("upload_window_bytes", 65_536...1_073_741_824, "window of an upload") {
            Int($0.server.assets.uploadWindowBytes)
        } assign: {
            $0.server.assets.uploadWindowBytes = UInt32($1)
        },
        NumberSetting("asset_chunk_bytes", 65_536...1_073_741_824, "bytes of an upload that a kill may cost")
        {
            $0.server.storage.assetChunkBytes
        } assign: {
            $0.server.storage.assetChunkBytes = $1
        },
        NumberSetting(
            "disk_reserve_bytes",
            0...1_152_921_504_606_846_976,
            "free disk space that uploads leave to the database"
        ) {
            $0.diskReserveBytes
        } assign: {
            $0.diskReserveBytes = $1
        },
        NumberSetting("asset_sweep_interval_s", 1...86_400, "between two sweeps of unnamed assets") {
            $0.server.assets.sweepInterval.milliseconds / 1_000
        } assign: {
            $0.server.assets.sweepInterval = .seconds($1)
        },
        NumberSetting("asset_threads", 1...1_024, "threads that read and write assets") {
            $0.assetThreads
        } assign: {
            $0.assetThreads = $1
        },
    ]

    private static let operation: [NumberSetting] = [
        NumberSetting("threads", 0...1_024, "event loops; 0: one per core") {
            $0.server.threads ?? 0
        } assign: {
            $0.server.threads = $1 == 0 ? nil : $1
        },
        NumberSetting(
            "metrics_interval_s",
            0...86_400,
            "seconds between two lines of metrics in the log (at debug with metrics_file); 0: none"
        ) {
            $0.metricsIntervalSeconds
        } assign: {
            $0.metricsIntervalSeconds = $1
        },
        NumberSetting("metrics_file_interval_s", 1...86_400, "seconds between two updates of metrics_file") {
            $0.metricsFileIntervalSeconds
        } assign: {
            $0.metricsFileIntervalSeconds = $1
        },
        NumberSetting("tombstone_retention_s", 3_600...3_153_600_000, "how long deletions are kept") {
            $0.server.storage.tombstoneRetentionSeconds
        } assign: {
            $0.server.storage.tombstoneRetentionSeconds = $1
        },
        NumberSetting("drain_timeout_s", 0...3_600, "how long a shutdown waits for requests in flight") {
            $0.drainSeconds
        } assign: {
            $0.drainSeconds = $1
        },
    ]

    private static let storage: [NumberSetting] = [
        NumberSetting(
            "asset_grace_s",
            1...31_536_000,
            "how long an asset without a record is kept, and an upload without a byte"
        ) {
            $0.server.storage.assetGraceSeconds
        } assign: {
            $0.server.storage.assetGraceSeconds = $1
        },
        NumberSetting(
            "user_bytes_max",
            0...1_152_921_504_606_846_976,
            "records and assets of a user, private; 0: no quota"
        ) {
            Int($0.server.storage.quotas.userBytes)
        } assign: {
            $0.server.storage.quotas.userBytes = Int64($1)
        },
        NumberSetting(
            "container_bytes_max",
            0...1_152_921_504_606_846_976,
            "records and assets of a container; 0: no quota"
        ) {
            Int($0.server.storage.quotas.containerBytes)
        } assign: {
            $0.server.storage.quotas.containerBytes = Int64($1)
        },
    ]
}

extension NumberSetting {
    fileprivate static let identity: [NumberSetting] = [
        NumberSetting("jwt_leeway_s", 0...3_600, "by how much the clock of an identity provider may differ") {
            $0.identity.leewaySeconds
        } assign: {
            $0.identity.leewaySeconds = $1
        },
        NumberSetting(
            "jwt_create_users",
            0...1,
            "1: unknown users of an identity provider are added; 0: they are refused"
        ) {
            $0.identity.createsUsers ? 1 : 0
        } assign: {
            $0.identity.createsUsers = $1 == 1
        },
    ]
}

extension Duration {
    fileprivate var milliseconds: Int {
        Int(self.components.seconds) * 1_000 + Int(self.components.attoseconds / 1_000_000_000_000_000)
    }
}
