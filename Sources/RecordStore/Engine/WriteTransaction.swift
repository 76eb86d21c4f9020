package import RecordModel

/// A transaction as rules see it: the part in which engines differ.
///
/// Calls come from one thread at a time. A write is seen by the reads after it, and by nobody else
/// before the commit. A failure leaves the request in a state that nobody may rely on: the engine
/// rolls it back to its beginning.
package protocol WriteTransaction: ChangeTransaction, RecordReader, IndexWriter {
    /// Grows with whatever a request changes.
    var positionsTaken: Int { get }

    /// The connection that makes the changes, which is not notified of them; `nil` if there is
    /// none.
    ///
    /// The engine sets it when it begins a job. A rule sets it while it makes changes that follow
    /// from what another connection did.
    var origin: ChangeOrigin? { get set }

    /// Knowledge of rules about tables that they need not read again.
    var memory: RuleMemory { get }

    /// Writes the row (`ZoneRow`) of a zone that is absent.
    ///
    /// Its number is the position of the creation: no other zone of the database ever has it. Rules
    /// call `createZone`.
    func insertZone(
        named name: String,
        in database: DatabaseID,
        at position: Int64
    ) throws(StorageFailure) -> ZoneKey
    /// Deletes the row of a zone, in time that does not depend on how much the zone has.
    ///
    /// The zone may be one of a shared database, which has no contents. Rules call `removeZone`.
    ///
    /// - Returns: What its contents count for, with what the transaction has written.
    func deleteZone(_ zone: ZoneKey, named name: String) throws(StorageFailure) -> StoredAmount

    /// Writes records of a zone, with what refers to others and what stands in indexes, and returns
    /// the numbers of those that are saved, in order.
    ///
    /// - Records: A new one gets a number; one that is there is as `existing` says. A deleted one
    ///   leaves a tombstone, which goes when a record of that name comes.
    /// - Entries: One that is added may be there, and one that is removed may be absent: an index
    ///   that is being built has not reached every record. Nothing in a transaction reads entries.
    /// - References: The table that SQLite keeps them in is called `hold`.
    /// - Counting: The engine counts the rows and the bodies for the zone, by `RowBytes`.
    @discardableResult
    func apply(
        _ writes: RecordWrites,
        to zone: ZoneKey,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [Int64]

    /// Reads which records refer to some records so that they keep these from being deleted, or are
    /// deleted with them.
    ///
    /// - Shape: One list a target, in order, each in the order of names; that of the first target
    ///   begins behind a name. The lists have at most `limit` referrers together. They end with the
    ///   target with which there are so many, perhaps before its last referrer.
    func referrers(
        of targets: [String],
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) throws(StorageFailure) -> [[Referrer]]
    /// Counts the records that have a `deleteSelf` reference to each target, in order; up to `limit`.
    func countsOfDeleteSelfReferrers(
        of targets: [String],
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [Int]

    /// Notes that the last change of a zone, which is none of a record, has a position above all
    /// before.
    ///
    /// The zone may be one of a shared database.
    func advance(_ zone: ZoneKey, to position: Int64)
}

extension WriteTransaction {
    /// Reads which records refer to one record: at most `limit`, in the order of their names, those
    /// behind a name.
    package func referrers(
        of target: String,
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) throws(StorageFailure) -> [Referrer] {
        try self.referrers(of: [target], in: zone, behind: name, limit: limit)[0]
    }
}

/// Why a primitive of a transaction failed, or its commit.
///
/// Codes are the engine's own numbers, for its operator.
package enum StorageFailure: Error, Hashable, Sendable {
    /// The storage takes nothing now, because the disk is full or cannot be reached. The same may
    /// succeed later.
    case unavailable(code: Int32)
    /// A fault of ours, or damaged data.
    case unexpected(code: Int32)
    /// Another transaction came in between, and nothing of this one was committed: the store runs the
    /// rules again from their beginning.
    case conflict
    /// The connection to the storage was lost during the commit: the store runs the rules again, which
    /// look up the request ID first.
    case outcomeUnknown
    /// The request would take the writer for too long, which became known while it was executed.
    ///
    /// `work`: what was counted until then, in the rule's unit; its holder pays for it.
    case exceeds(WorkBound, work: Int)
}

/// The key under which the contents of a zone are stored.
///
/// A zone that is created again under an old name has another key.
package struct ZoneKey: Hashable, Sendable {
    package var database: DatabaseID
    package var number: Int64

    package init(database: DatabaseID, number: Int64) {
        self.database = database
        self.number = number
    }
}

/// A record without its name.
///
/// Judging and writing a record copies this a dozen times: what it consists of is behind one reference.
package struct StoredRecord: Hashable, Sendable {
    private final class Contents: Sendable {
        let recordType: String
        let system: SystemFields
        let parent: String?
        let body: RecordBody

        init(recordType: String, system: SystemFields, parent: String?, body: RecordBody) {
            self.recordType = recordType
            self.system = system
            self.parent = parent
            self.body = body
        }
    }

    /// The number of the record's key; 0 if it is not stored yet.
    package var number: Int64
    /// Its last change in the order of the database; the change tag is made from it.
    package var position: Int64
    private let contents: Contents

    package init(
        number: Int64,
        recordType: String,
        position: Int64,
        system: SystemFields,
        parent: String?,
        body: RecordBody
    ) {
        self.number = number
        self.position = position
        self.contents = Contents(recordType: recordType, system: system, parent: parent, body: body)
    }

    package var recordType: String { self.contents.recordType }
    package var system: SystemFields { self.contents.system }
    package var parent: String? { self.contents.parent }
    package var body: RecordBody { self.contents.body }

    /// Whether the storage gave other bytes than it took, as far as can be seen.
    ///
    /// Such a record can be deleted, and nothing else: to save it would lose the fields that cannot be
    /// read, and leave index entries of values that nobody knows.
    package var isDamaged: Bool { self.position < 0 || !self.body.isIntact }

    package static func == (left: StoredRecord, right: StoredRecord) -> Bool {
        left.number == right.number && left.position == right.position
            && (left.contents === right.contents
                || (left.recordType == right.recordType && left.system == right.system
                    && ExactName.areSame(left.parent, right.parent) && left.body == right.body))
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.number)
        hasher.combine(self.position)
    }

    /// The record as it travels, cut to `keys` when there are some.
    package func record(id: RecordID, keeping keys: Set<String>? = nil) -> Record {
        Record(
            id: id,
            recordType: self.recordType,
            changeTag: ChangeTag.text(of: self.position),
            system: self.system,
            parent: self.parent,
            body: keys.map { self.body.keeping($0) } ?? self.body
        )
    }
}

/// How a record refers to another.
///
/// One bit each, because a record may be child and dependant at once.
package struct ReferenceKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    /// The target is the parent.
    package static let parent = ReferenceKinds(rawValue: 1 << 0)
    package static let deleteSelf = ReferenceKinds(rawValue: 1 << 1)
    package static let validate = ReferenceKinds(rawValue: 1 << 2)
    /// Those that keep the target from being deleted while the referrer exists.
    package static let keeping: ReferenceKinds = [.parent, .validate]

    package init(rawValue: UInt8) { self.rawValue = rawValue }
}

package struct Referrer: Hashable, Sendable {
    package var name: String
    package var kinds: ReferenceKinds

    package init(name: String, kinds: ReferenceKinds) {
        self.name = name
        self.kinds = kinds
    }
}

/// A change tag is the position of the record's last change in base 36: short, and new with every change.
package enum ChangeTag {
    /// Enough digits for any position; such a text needs no memory of its own.
    package static let digitsMax = 13

    package static func text(of position: Int64) -> String {
        // SAFETY: the memory is on the stack, and copied before the call returns.
        withUnsafeTemporaryAllocation(byteCount: self.digitsMax, alignment: 1) { memory in
            String(decoding: self.write(position, into: memory), as: UTF8.self)
        }
    }

    /// Writes the tag to the end of memory of at least `digitsMax` bytes, and returns where it is.
    // SAFETY: the memory is the caller's; what is returned is a part of it.
    package static func write(
        _ position: Int64,
        into memory: UnsafeMutableRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        precondition(memory.count >= self.digitsMax)
        var offset = memory.count
        // A damaged position may be negative: its tag is one that no record gets.
        var rest = UInt64(bitPattern: position)
        repeat {
            offset -= 1
            let digit = UInt8(rest % 36)
            memory[offset] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            rest /= 36
        } while rest > 0
        return UnsafeRawBufferPointer(rebasing: memory[offset...])
    }
}
