package import RecordModel

/// The positions of a database.
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

/// A record of a zone, lent for a visit: the memory is valid until the visitor returns.
package struct FeedRow: ~Copyable {
    /// The engine's number of the record as long as it lives.
    package let number: Int64
    /// The position of its last change.
    package let position: Int64
    package let record: LentRecord

    @inlinable
    package init(number: Int64, position: Int64, record: consuming LentRecord) {
        self.number = number
        self.position = position
        self.record = record
    }
}

extension StoredRecord {
    /// Lends the record to a visitor.
    package func visited(
        named name: String,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool {
        let (number, position) = (self.number, self.position)
        let record = self.record(id: RecordID(zone: .default, recordName: name))
        return try record.lentThrowing { (lent) throws(FeedFailure) in
            let record = LentRecord(
                name: lent.name,
                recordType: lent.recordType,
                changeTag: lent.changeTag,
                system: lent.system,
                parent: lent.parent,
                fields: lent.fields
            )
            return try visit(FeedRow(number: number, position: position, record: record))
        }
    }
}

package struct FeedZone: Hashable, Sendable {
    package var name: String
    package var key: ZoneKey
    /// The position of its last change: a record's, a deletion, its own creation.
    package var position: Int64
    package var recordCount: Int64
    /// The bytes of encoded bodies.
    package var byteCount: Int64
    /// The client token that is stored with the zone for the database in which it was read; empty
    /// if there is none.
    package var clientToken: [UInt8] = []

    package init(name: String, key: ZoneKey, position: Int64, recordCount: Int64, byteCount: Int64) {
        self.name = name
        self.key = key
        self.position = position
        self.recordCount = recordCount
        self.byteCount = byteCount
    }
}

/// The positions of a record's creation and of its last change.
package struct RecordPositions: Hashable, Sendable {
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
    /// The user record name of the creator; empty if unknown.
    package var createdBy: String
    /// The share that covered the record.
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

/// Why a page of a feed was not read.
package enum FeedFailure: Error, Hashable, Sendable {
    case refused(StoreError)
    case storage(StorageFailure)

    /// Runs a read that fails only if the storage does.
    package static func wrapping<Value>(
        _ read: () throws(StorageFailure) -> Value
    ) throws(FeedFailure) -> Value {
        do throws(StorageFailure) {
            return try read()
        } catch {
            throw .storage(error)
        }
    }
}
