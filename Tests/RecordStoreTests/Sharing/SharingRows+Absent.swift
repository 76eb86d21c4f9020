import RecordModel
import StorageContract

@testable import RecordStore

/// What rules about shares do not ask for.
extension SharingTestTransaction {
    func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        throw Self.absent
    }

    func insertZone(
        named name: String,
        in database: DatabaseID,
        at position: Int64
    ) throws(StorageFailure) -> ZoneKey { throw Self.absent }

    func lastChange(
        inZonesOf database: DatabaseID,
        exceptNamed name: String
    ) throws(StorageFailure) -> Int64 { throw Self.absent }

    func bytesStored(
        under quota: Quota,
        with database: DatabaseID
    ) throws(StorageFailure) -> Int64? { throw Self.absent }

    // MARK: Records

    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] { throw Self.absent }

    func apply(
        _ writes: RecordWrites,
        to zone: ZoneKey,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [Int64] { throw Self.absent }

    func referrers(
        of targets: [String],
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) throws(StorageFailure) -> [[Referrer]] { throw Self.absent }

    func countsOfDeleteSelfReferrers(
        of targets: [String],
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [Int] { throw Self.absent }

    // MARK: Indexes

    func hasEntries(
        ofIndex index: Int64,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> Bool { throw Self.absent }

    func takeIndexNumbers(_ count: Int) throws(StorageFailure) -> Int64 { throw Self.absent }
}
