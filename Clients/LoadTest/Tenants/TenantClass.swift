import RecordModel

/// How greedy a tenant is.
///
/// Each tenant is a user with a connection. All tenants of a class are alike.
///
///     class      of 100   requests at a time   what they do
///     ordinary       60   1                    fetches, saves, queries, pages of changes, pushes
///     greedy-2        2   2                    the same, from here on more of it
///     greedy-4        2   4
///     greedy-8        2   8
///     greedy-16       2   16
///     greedy-32       2   32
///     greedy-64       2   64
///     greedy-128      2   128
///     batches         8   2                    saves of 400 records
///     queries         6   8                    pages of 400 records of a query for all 1,000
///     slow            6   8                    pages of 400 changes; all slow tenants read
///                                              5,000 records per second together
///     bursts          6   64, every 2 s        what the ordinary ones do
enum TenantClass: String, CaseIterable, Codable, CodingKeyRepresentable, Sendable {
    case ordinary
    case greedy2 = "greedy-2"
    case greedy4 = "greedy-4"
    case greedy8 = "greedy-8"
    case greedy16 = "greedy-16"
    case greedy32 = "greedy-32"
    case greedy64 = "greedy-64"
    case greedy128 = "greedy-128"
    case batches
    case queries
    case slow
    case bursts

    /// Tenants of one appetite have the same price for a kind of request.
    enum Appetite: String, CaseIterable, Codable, CodingKeyRepresentable, Sendable {
        case ordinary
        case batches
        case queries
        case slow
    }

    static let burstInterval = Duration.seconds(2)
    /// Requests of the ordinary tenants.
    ///
    /// Greedier ones make more of the same requests.
    static let ordinaryMix = Mix([.fetch: 40, .save: 30, .query: 15, .changes: 10, .push: 5])

    /// Number of tenants of this class per 100.
    var weight: Int {
        switch self {
        case .ordinary: 60
        case .greedy2, .greedy4, .greedy8, .greedy16, .greedy32, .greedy64, .greedy128: 2
        case .batches: 8
        case .queries, .slow, .bursts: 6
        }
    }

    /// Requests in flight.
    var atATime: Int {
        switch self {
        case .ordinary: 1
        case .greedy2, .batches: 2
        case .greedy4: 4
        case .greedy8, .queries, .slow: 8
        case .greedy16: 16
        case .greedy32: 32
        case .greedy64, .bursts: 64
        case .greedy128: 128
        }
    }

    var appetite: Appetite {
        switch self {
        case .batches: .batches
        case .queries: .queries
        case .slow: .slow
        default: .ordinary
        }
    }

    var mix: Mix {
        switch self.appetite {
        case .ordinary: Self.ordinaryMix
        case .batches: Mix(only: .saveBatch)
        case .queries: Mix(only: .query)
        case .slow: Mix(only: .changes)
        }
    }

    /// Records per tenant.
    ///
    /// Batches in flight at the same time have no record in common.
    var records: Int {
        switch self.appetite {
        case .ordinary: max(120, 4 * self.atATime)
        case .batches: Self.batch * (self.atATime + 1)
        case .queries, .slow: 1_000
        }
    }

    static let batch = 400
    static let page = 400
    static let slowRestMicroseconds = 200

    func settings(_ plan: LoadPlan) -> WorkerSettings {
        var settings = plan.workerSettings()
        settings.mix = self.mix
        settings.plainKeys = self.records
        settings.batch = Self.batch
        settings.page = self.appetite == .slow ? Self.page : 100
        settings.underWayMax = self.atATime
        settings.isClosedLoop = self != .bursts
        settings.areQueriesBroad = self == .queries
        settings.restMicrosecondsPerRecord = self == .slow ? Self.slowRestMicroseconds : 0
        return settings
    }
}

/// The class of each tenant: shares of the table in `TenantClass`, in an order that depends on the
/// seed alone.
struct TenantMix: Hashable, Sendable {
    /// By tenant.
    let classes: [TenantClass]

    /// Takes a number of tenants, at least 4.
    ///
    /// At least two of them are ordinary, so that there are equals to compare.
    init(tenants: Int, seed: UInt64) {
        let all = TenantClass.allCases
        let sum = all.reduce(0) { $0 + $1.weight }
        var counts = all.map { tenants * $0.weight / sum }
        // Classes that lost most by rounding come first; of equals, the first of the table.
        let byLoss = all.indices.sorted { left, right in
            let losses = [left, right].map { tenants * all[$0].weight % sum }
            return losses[0] == losses[1] ? left < right : losses[0] > losses[1]
        }
        for index in byLoss.prefix(tenants - counts.reduce(0, +)) { counts[index] += 1 }
        var generator = SplitMix64(seed: SplitMix64.mix(seed))
        self.classes = zip(all, counts)
            .flatMap { Array(repeating: $0, count: $1) }
            .shuffled(using: &generator)
    }
}
