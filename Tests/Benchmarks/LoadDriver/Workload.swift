import ArgumentParser
import RecordModel

/// What a run does; the names are those of the rows of `Scripts/bench`.
enum Workload: String, ExpressibleByArgument, CaseIterable {
    /// Fills the zones.
    case load
    case singleSave = "single-save"
    case batchOwnZone = "batch-own-zone"
    case batchOneZone = "batch-one-zone"
    case fetch

    var recordsPerRequest: Int {
        switch self {
        case .load: 400
        case .singleSave, .fetch: 1
        case .batchOwnZone, .batchOneZone: 200
        }
    }
}

/// The requests of one connection, from a seed.
struct Keys: Sendable {
    private let workload: Workload
    private let connection: Int
    private var generator: SplitMix64

    init(workload: Workload, connection: Int, seed: UInt64) {
        self.workload = workload
        self.connection = connection
        self.generator = SplitMix64(seed: seed &* 0x9E37_79B9 &+ UInt64(connection))
    }

    mutating func nextOperation() -> Operation {
        switch self.workload {
        case .fetch:
            let number = Int.random(in: 0..<Dataset.sharedRecords, using: &self.generator)
            return .fetchRecords(FetchRecords(scope: .private, ids: [Dataset.scattered(number)]))
        case .singleSave:
            let number = Int.random(in: 0..<Dataset.sharedRecords, using: &self.generator)
            return Dataset.save([Dataset.scattered(number)])
        case .batchOwnZone, .load:
            let count = self.workload.recordsPerRequest
            let first = Int.random(in: 0...(Dataset.ownRecords - count), using: &self.generator)
            return Dataset.save((first..<first + count).map { Dataset.owned($0, zone: self.connection) })
        case .batchOneZone:
            // A step without a factor in common with 100,000 names every record once before it names one twice.
            let first = Int.random(in: 0..<Dataset.sharedRecords, using: &self.generator)
            let step = 10 * Int.random(in: 0..<10_000, using: &self.generator) + 7
            return Dataset.save(
                (0..<self.workload.recordsPerRequest).map {
                    Dataset.scattered((first + $0 * step) % Dataset.sharedRecords)
                }
            )
        }
    }
}

/// A small generator that repeats itself from a seed.
struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
