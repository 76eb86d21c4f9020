package import RecordModel

/// What a feed may read within one snapshot: the part of an engine that differs from one database to another.
///
/// Calls come from one thread at a time.
package protocol FeedReader: AnyObject {
    /// `nil`: there is no such database.
    func state(of database: DatabaseID) throws(StorageFailure) -> FeedState?
    func feedZone(named name: String, in database: DatabaseID) throws(StorageFailure) -> FeedZone?

    /// Visits the records of a zone in the order of their creation, or in the opposite one, beyond a record number, until
    /// one visit says that it is enough.
    func visitRecords(
        of zone: ZoneKey,
        beyond number: Int64?,
        isDescending: Bool,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure)
    /// Visits one record; those that follow each other in the order of their creation are found without a search.
    ///
    /// Answers what the visit does; `nil`: there is none, or it is in another zone. Records may be read during the visit, but none visited.
    func visitRecord(
        numbered number: Int64,
        in zone: ZoneKey,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool?
    /// `nil`: there is none, or it is in another zone.
    func record(numbered number: Int64, in zone: ZoneKey) throws(StorageFailure) -> NamedRecord?
    func place(ofRecordNamed name: String, in zone: ZoneKey) throws(StorageFailure) -> FeedPlace?

    /// Changes of records behind a position, ascending; stale ones, which no record has any more, may be among them.
    ///
    /// About `limit` of them; none: there are no more.
    func changes(after position: Int64, in zone: ZoneKey, limit: Int) throws(StorageFailure) -> [FeedChange]
    /// Deletions of records that are still absent, behind a position, ascending; at most `limit`.
    func deletions(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [FeedDeletion]

    /// Zones whose last change is behind a position, in the order of those; at most `limit`.
    func zones(
        of database: DatabaseID,
        after position: Int64,
        limit: Int
    ) throws(StorageFailure) -> [FeedZone]
    /// Zones that were deleted behind a position, each at its last deletion, ascending; at most `limit`.
    func zoneDeletions(
        of database: DatabaseID,
        after position: Int64,
        limit: Int
    ) throws(StorageFailure) -> [FeedZoneDeletion]

    func access(toType type: String, for requester: Requester) throws(StorageFailure) -> TypeAccess

    func sharedAccess(to zone: ZoneKey, of reader: DatabaseID) throws(StorageFailure) -> SharedAccess
    /// The share that covers a record, and since which position.
    func cover(of record: Int64) throws(StorageFailure) -> (share: ShareNumber, since: Int64)?
    /// Records that came under a share or left it behind a position, ascending; at most `limit`.
    func coverChanges(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [CoverChange]
}

/// Where a database is.
package struct FeedState: Hashable, Sendable {
    /// The last one that was taken: everything in the snapshot is at or before it.
    package var position: Int64
    package var epoch: Int64
    /// Deletions at or before it may be forgotten.
    package var tombstonesGoneThrough: Int64

    package init(position: Int64, epoch: Int64, tombstonesGoneThrough: Int64) {
        self.position = position
        self.epoch = epoch
        self.tombstonesGoneThrough = tombstonesGoneThrough
    }
}

/// A record of a zone, lent for a visit.
package struct FeedRow: ~Copyable {
    /// What the engine calls the record as long as it lives.
    package let number: Int64
    /// Of its last change.
    package let position: Int64
    package let record: LentRecord

    @inlinable
    package init(number: Int64, position: Int64, record: consuming LentRecord) {
        self.number = number
        self.position = position
        self.record = record
    }
}

package struct FeedZone: Hashable, Sendable {
    package var name: String
    package var key: ZoneKey
    /// Of its last change: a record's, a deletion, its own creation.
    package var position: Int64
    package var recordCount: Int64
    /// Encoded bodies.
    package var byteCount: Int64
    /// What was kept with the zone for the database in which it was asked for; empty if nothing.
    package var clientToken: [UInt8] = []

    package init(name: String, key: ZoneKey, position: Int64, recordCount: Int64, byteCount: Int64) {
        self.name = name
        self.key = key
        self.position = position
        self.recordCount = recordCount
        self.byteCount = byteCount
    }
}

/// Where a record has its turns.
package struct FeedPlace: Hashable, Sendable {
    package var number: Int64
    package var position: Int64
    package var createdPosition: Int64

    package init(number: Int64, position: Int64, createdPosition: Int64) {
        self.number = number
        self.position = position
        self.createdPosition = createdPosition
    }
}

package struct FeedChange: Hashable, Sendable {
    package var position: Int64
    package var record: Int64

    package init(position: Int64, record: Int64) {
        self.position = position
        self.record = record
    }
}

package struct FeedDeletion: Hashable, Sendable {
    package var position: Int64
    package var name: String
    package var recordType: String
    /// User record name; empty: nobody knows.
    package var createdBy: String
    /// What covered the record.
    package var share: ShareNumber?

    package init(
        position: Int64,
        name: String,
        recordType: String,
        createdBy: String,
        share: ShareNumber? = nil
    ) {
        self.position = position
        self.name = name
        self.recordType = recordType
        self.createdBy = createdBy
        self.share = share
    }
}

package struct FeedZoneDeletion: Hashable, Sendable {
    package var position: Int64
    package var name: String

    package init(position: Int64, name: String) {
        self.position = position
        self.name = name
    }
}

/// Why a page of a feed was not answered.
package enum FeedFailure: Error, Hashable, Sendable {
    case refused(StoreError)
    case storage(StorageFailure)

    /// Reads what only storage can fail.
    @inlinable @inline(__always)
    package static func wrapping<Answer>(
        _ read: () throws(StorageFailure) -> Answer
    ) throws(FeedFailure) -> Answer {
        do throws(StorageFailure) {
            return try read()
        } catch {
            throw .storage(error)
        }
    }
}
