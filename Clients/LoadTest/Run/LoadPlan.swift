/// The parameters of a run, which its report repeats.
struct LoadPlan: Codable, Sendable {
    var workload: String
    var mix: Mix
    var connections: Int
    var zones: Int
    /// For this process, over all its connections.
    var records: Int
    var recordBytes: Int
    var assetBytes: Int
    var batch: Int
    var page: Int
    var distribution: KeyDistribution.Shape
    /// Requests per second of all processes together; `nil` for a closed loop.
    var rate: Double?
    var arrivals: Arrivals.Pattern
    /// Requests in flight on a connection.
    var underWayMax: Int
    var warmUpSeconds: Double
    var durationSeconds: Double
    var timeoutSeconds: Double
    var seed: UInt64
    /// Whether rejected requests are sent again at the time that the rejection names.
    var retries: Bool
    var verifies: Bool
    var chaos: String?
    var chaosIntervalSeconds: Double
    var run: String
    /// From 0.
    ///
    /// The first of several processes collects the results.
    var process: Int
    var processes: Int
    /// Whether the zones are kept.
    var keepsZones: Bool
    /// Clients that follow all feeds during the load.
    var followers = 0

    var layout: Layout { Layout(run: self.run, process: self.process, zoneCount: self.zones) }

    func workerSettings() -> WorkerSettings {
        WorkerSettings(
            layout: self.layout,
            mix: self.mix,
            shape: self.distribution,
            seed: self.seed,
            plainKeys: self.records / self.connections,
            recordBytes: self.recordBytes,
            assetBytes: self.assetBytes,
            batch: self.batch,
            page: self.page,
            underWayMax: self.underWayMax,
            isClosedLoop: self.rate == nil,
            timeout: .seconds(self.timeoutSeconds),
            verifies: self.verifies
        )
    }
}
