import RecordModel
import RecordStore

/// Zones that are not empty, compared with the beginning of the bundle's.
///
/// An import saves records in the order of the bundle, piece by piece. So an interrupted one leaves the
/// first records of each zone, and no others. Any other record comes from a client or an operator.
struct BegunZones {
    private static let batchMax = 400

    private let database: AdministeredDatabase
    /// The number of records that are still to be compared.
    private var left: [ZoneID: Int64]
    private var batch: [Record] = []

    init(_ counts: [ZoneID: Int64], _ database: AdministeredDatabase) {
        self.database = database
        self.left = counts
    }

    mutating func add(_ record: Record) async throws {
        guard let count = self.left[record.id.zone], count > 0 else { return }
        self.left[record.id.zone] = count - 1
        // An error names one zone.
        let isOther = self.batch.last.map { $0.id.zone != record.id.zone } ?? false
        if isOther || self.batch.count == Self.batchMax { try await self.compare() }
        self.batch.append(record)
    }

    mutating func finish() async throws {
        try await self.compare()
        // More records than the bundle has.
        if let other = self.left.first(where: { $0.value > 0 })?.key {
            throw BundleFailure.zoneIsForeign(other)
        }
    }

    private mutating func compare() async throws {
        let batch = self.batch
        self.batch = []
        guard let last = batch.last else { return }
        let areThere = try await self.database.retrying {
            await withCheckedContinuation { continuation in
                self.database.store.areRestored(batch, for: self.database.requester) {
                    continuation.resume(returning: $0)
                }
            }
        }
        guard areThere else { throw BundleFailure.zoneIsForeign(last.id.zone) }
    }
}
