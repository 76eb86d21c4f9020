import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// A transaction in memory that keeps rows of declared tables and counts what they count for.
final class MemoryUsage: MemoryRows, UsageTransaction {
    static let database = DatabaseID(rawValue: 1)
    static let zone = ZoneKey(database: database, number: 7)

    let tables = MemoryTables()
    var nowMilliseconds: Int64 = 1_000_000
    private(set) var counted: [DatabaseID: StoredAmount] = [:]
    private(set) var zoneRowBytes: [ZoneKey: Int] = [:]
    /// What is stored by whom; nobody's database has no bytes of a user.
    var stored: [Quota.Holder: Int64] = [:]

    func count(_ growth: StoredAmount, in database: DatabaseID) {
        self.counted[database, default: StoredAmount()].add(growth)
    }

    func count(rowBytes: Int, in zone: ZoneKey) { self.zoneRowBytes[zone, default: 0] += rowBytes }

    func bytesStored(under quota: Quota, with database: DatabaseID) -> Int64? { self.stored[quota.holder] }
}

extension MemoryUsage {
    /// A database of a user, or without one nobody's.
    convenience init(owner: Int64?) throws {
        self.init()
        var row = DatabaseRow(
            environment: EnvironmentID(rawValue: 1),
            scope: owner == nil ? .public : .private,
            owner: owner.map { UserNumber(rawValue: $0) } ?? DatabaseRow.nobody,
            position: 0,
            epoch: 0,
            stored: StoredAmount()
        )
        row.number = Self.database
        try self.put(row)
    }

    static func file(_ number: UInt8, size: Int64 = 100) -> Asset {
        Asset(sha256: [UInt8](repeating: number, count: Asset.hashBytes), size: size)
    }

    static func record(_ number: Int64) -> RecordKey { RecordKey(zone: self.zone, number: number) }

    /// Begins an upload, and completes it if `isComplete`.
    func upload(_ asset: Asset, by user: String? = nil, isComplete: Bool = true) throws -> AssetNumber {
        let number = try self.insertUpload(of: asset, by: user, in: Self.database)
        if isComplete { #expect(try self.completeUpload(number)) }
        return number
    }

    func due(
        since milliseconds: Int64,
        limit: Int = 100,
        except open: Set<AssetNumber> = []
    ) throws
        -> [AssetNumber]
    {
        try self.markGoing(
            unnamedSince: UnnamedBounds(sent: milliseconds, released: milliseconds),
            limit: limit,
            except: AssetLeases.Numbers(written: open, read: [])
        )
    }

    func state(_ number: AssetNumber) throws -> AssetRow.State? {
        try self.row(AssetRow.byKey, number)?.state
    }
}
