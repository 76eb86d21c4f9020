/// All that a run was asked to do; what a report says about it.
struct LoadPlan: Codable, Sendable {
    var workload: String
    var mix: Mix
    var connections: Int
    var zones: Int
    /// Of this process, over all its connections.
    var records: Int
    var recordBytes: Int
    var assetBytes: Int
    var batch: Int
    var page: Int
    var distribution: KeyDistribution.Shape
    /// Requests a second of all processes together; `nil`: a closed loop.
    var rate: Double?
    var arrivals: Arrivals.Pattern
    /// Requests of a connection without an answer.
    var underWayMax: Int
    var warmUpSeconds: Double
    var durationSeconds: Double
    var timeoutSeconds: Double
    var seed: UInt64
    /// Comes back at the time that a refusal names.
    var retries: Bool
    var verifies: Bool
    var chaos: String?
    var chaosIntervalSeconds: Double
    var run: String
    /// From 0; of several processes the first gathers the results.
    var process: Int
    var processes: Int
    /// Leaves the zones where they are.
    var keepsZones: Bool

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
