import RecordModel
import StorageContract

/// Fills one page of a zone's feed, parents before their children.
///
/// Positions tell whether the client has a parent: if the parent's turn has passed, it was sent
/// then or before. If its turn would be later, it is sent ahead, and `SentAhead` remembers it.
struct FeedPage {
    private let read: FeedRead
    private let zone: ZoneKey
    private let requester: Requester
    /// The requester's rights in another user's zone.
    ///
    /// `nil` if the zone is the requester's own, or the public database's.
    private let shared: SharedAccess?
    /// Whether there are such rights, which are too large to check for each record.
    private let isForeign: Bool
    /// Whether what may be read depends on the type: for users of the public database.
    private let isPublic: Bool
    private let budget: FeedBudget
    private let snapshot: any Snapshot
    private let desiredKeys: Set<String>?
    private let sink: any FeedSink

    private var itemCount = 0
    private(set) var ahead: SentAhead
    private var bytes = 0
    private var reads = 0
    private var bytesRead = 0
    /// Names of parents that the client has; a name stays known within a page.
    private var knownParents: Set<ExactName> = []
    private var accesses: [String: TypeAccess] = [:]
    /// The membership that was read last: a record's turn asks for it more than once.
    private var lastMembership: (record: Int64, row: MembershipRow?)?

    init(
        _ read: FeedRead,
        in zone: ZoneKey,
        shared: SharedAccess?,
        ahead: SentAhead,
        _ feed: FeedExecution,
        into sink: any FeedSink
    ) {
        self.read = read
        self.zone = zone
        self.shared = shared
        self.isForeign = shared != nil
        self.isPublic = feed.requester.scope == .public && !feed.requester.isOperator
        self.requester = feed.requester
        self.ahead = ahead
        self.budget = feed.budget
        self.snapshot = feed.snapshot
        self.sink = sink
        sink.enter(read.zone)
        self.desiredKeys = read.desiredKeys.map { Set($0) }
    }

    private var isUsedUp: Bool {
        self.reads >= self.budget.readsMax || self.bytesRead >= self.budget.bytesReadMax
    }

    private func key(_ number: Int64) -> RecordKey { RecordKey(zone: self.zone, number: number) }

    // MARK: Turns

    /// Goes through the existing records; returns where it stopped, `nil` if it came to the end.
    mutating func fill(from start: ChangeToken.Snapshot) throws(FeedFailure) -> ChangeToken.Snapshot? {
        var snapshot = start
        var isThrough = true
        let isDescending = start.order == .newestFirst
        try self.snapshot.visitRecords(of: self.zone, beyond: start.last, isDescending: isDescending) {
            (row: borrowing FeedRow) throws(FeedFailure) in
            guard !self.isUsedUp else {
                isThrough = false
                return false
            }
            self.reads += 1
            // Records changed since the beginning are left to the feed.
            if row.position <= start.position, try self.wasThere(row.number, at: start.position) {
                let number = row.number
                let hasRoom = try self.take(row) { parent in
                    parent.position <= start.position
                        && (isDescending ? parent.number > number : parent.number < number)
                }
                guard hasRoom else {
                    isThrough = false
                    return false
                }
            }
            snapshot.last = row.number
            return true
        }
        return isThrough ? nil : snapshot
    }

    /// Goes through the changes behind a position.
    ///
    /// Returns where it stopped, `nil` if it came to the end.
    mutating func fill(after position: Int64, known: Int64) throws(FeedFailure) -> Int64? {
        var walk = ChangeWalk(
            self.snapshot,
            zone: self.zone,
            after: position,
            hasMemberships: self.shared.map { $0.zoneWide == nil } ?? false,
            piece: ChangeWalk.piece(ofPage: self.read.limit)
        )
        var after = position
        while let turn = try FeedFailure.wrapping({ () throws(StorageFailure) in try walk.next() }) {
            guard !self.isUsedUp else { return after }
            self.reads += 1
            switch turn {
            case .change(let change):
                guard try self.take(change, of: walk, known: known) else { return after }
                after = change.position
            case .deletion(let deletion):
                guard try self.take(deletion) else { return after }
                after = deletion.position
            case .membership(let change):
                guard try self.take(change, of: walk) else { return after }
                after = change.position
            }
        }
        return nil
    }

    private mutating func take(
        _ change: FeedChange,
        of walk: ChangeWalk,
        known: Int64
    ) throws(FeedFailure) -> Bool {
        let isForeign = self.isForeign
        return try walk.visitChanged {
            (row: borrowing FeedRow) throws(FeedFailure) in
            // A stale entry: the record has changed since; one that is gone is not visited.
            guard row.position == change.position else { return true }
            return try self.take(row) { parent in
                // Records that came under a share after their creation were not sent then.
                parent.position < change.position
                    || (!isForeign && parent.createdPosition <= known)
            }
        } ?? true
    }

    private mutating func take(_ deletion: FeedDeletion) throws(FeedFailure) -> Bool {
        if let shared {
            guard shared.grant(coveredBy: deletion.share) != nil else { return true }
        } else {
            let access = try self.access(toType: deletion.recordType)
            guard access.mayRead(recordCreatedBy: deletion.createdBy) else { return true }
        }
        return self.add(deletionOf: deletion.name, type: deletion.recordType)
    }

    /// False: there is no room.
    private mutating func add(deletionOf name: String, type: String) -> Bool {
        guard self.itemCount < self.read.limit else { return false }
        let id = RecordID(zone: self.read.zone, recordName: name)
        self.sink.add(DeletedRecord(id: id, recordType: type))
        self.itemCount += 1
        return true
    }

    // MARK: Shares

    /// Takes a record that came under a share, or one that left it.
    ///
    /// A record that came under the share comes now, unless it has a later turn of its own. One
    /// that left it is gone, unless another share covers it.
    private mutating func take(
        _ change: MembershipChange,
        of walk: ChangeWalk
    ) throws(FeedFailure) -> Bool {
        guard let shared, shared.grant(coveredBy: change.share) != nil else { return true }
        let membership = try self.membership(of: change.record)
        let isThere = shared.grant(coveredBy: membership?.share) != nil
        guard change.isArrival else {
            guard !isThere else { return true }
            return self.add(deletionOf: change.name, type: change.recordType)
        }
        // A record that left again and came back comes at its last arrival.
        guard isThere, membership?.since == change.position else { return true }
        return try walk.visitMember {
            (row: borrowing FeedRow) throws(FeedFailure) in
            guard row.position < change.position else { return true }
            return try self.take(row) { parent in parent.position < change.position }
        } ?? true
    }

    /// Whether a record was there for the requester when a snapshot began.
    ///
    /// Records that came under a share later are left to the feed.
    private mutating func wasThere(_ record: Int64, at position: Int64) throws(FeedFailure) -> Bool {
        guard self.isForeign, let shared, shared.zoneWide == nil else { return true }
        return try self.membership(of: record).map { $0.since <= position } ?? false
    }

    private mutating func membership(of record: Int64) throws(FeedFailure) -> MembershipRow? {
        if let last = self.lastMembership, last.record == record { return last.row }
        let row = try FeedFailure.wrapping { () throws(StorageFailure) in
            try self.snapshot.membership(of: self.key(record))
        }
        self.lastMembership = (record, row)
        return row
    }

    /// The requester's rights to a record of another user's zone; `nil` if they may not see it.
    private mutating func grant(of record: Int64) throws(FeedFailure) -> ShareGrant? {
        guard let shared else { return nil }
        if let zoneWide = shared.zoneWide { return zoneWide }
        return shared.grant(coveredBy: try self.membership(of: record)?.share)
    }

    // MARK: Records

    /// Adds a record at its turn, its ancestors first; false: there is no room for all of them.
    ///
    /// `has`: whether the client has a parent because of its own turn.
    private mutating func take(
        _ row: borrowing FeedRow,
        unless has: (RecordPositions) -> Bool
    ) throws(FeedFailure) -> Bool {
        self.bytesRead += row.record.fields.count
        if self.ahead.remove(row.position) { return true }
        if self.isForeign || row.record.isShare { return try self.takeShared(row, unless: has) }
        guard try self.mayRead(row.record) else { return true }
        guard try self.takeAncestors(of: row.record, unless: has) else { return false }
        return try self.add(row.record)
    }

    /// The same of a record that is shared, or a share: it is as the requester may see it.
    private mutating func takeShared(
        _ row: borrowing FeedRow,
        unless has: (RecordPositions) -> Bool
    ) throws(FeedFailure) -> Bool {
        let grant = try self.grant(of: row.number)
        guard self.shared == nil || grant != nil else { return true }
        var record = row.record.record(in: self.read.zone)
        if record.recordType == ShareRecord.type {
            record.body = record.body.seen(by: self.requester.userRecordName ?? "")
        }
        if let root = grant?.share.root, ExactName.areSame(root, record.id.recordName) { record.parent = nil }
        return try record.lentThrowing { (record: borrowing LentRecord) throws(FeedFailure) in
            guard try self.takeAncestors(of: record, unless: has) else { return false }
            return try self.add(record)
        }
    }

    /// Adds the ancestors that the client does not have; false: there is no room for all of them.
    private mutating func takeAncestors(
        of record: borrowing LentRecord,
        unless has: (RecordPositions) -> Bool
    ) throws(FeedFailure) -> Bool {
        if !record.parent.isEmpty {
            let parent = String(decoding: record.parent, as: UTF8.self)
            for ancestor in try self.missingAncestors(from: parent, has).reversed() {
                let id = RecordID(zone: self.read.zone, recordName: ancestor.name)
                let hasRoom = try ancestor.stored.record(id: id).lentThrowing {
                    (record: borrowing LentRecord) throws(FeedFailure) in try self.add(record)
                }
                guard hasRoom else { return false }
                self.ahead.insert(ancestor.stored.position)
                self.knownParents.insert(ancestor.name)
            }
        }
        return true
    }

    /// A parent that the client can't have, and the parent's own, the nearest first.
    ///
    /// A record that the client has came after its own ancestors, so the search ends there.
    private mutating func missingAncestors(
        from parent: String,
        _ has: (RecordPositions) -> Bool
    ) throws(FeedFailure) -> [NamedRecord] {
        var missing: [NamedRecord] = []
        var next: String? = parent
        while let name = next, !self.knownParents.contains(name) {
            self.reads += 1
            let positions = try FeedFailure.wrapping { () throws(StorageFailure) in
                try self.snapshot.positions(ofRecordNamed: name, in: self.zone)
            }
            guard let positions else { break }
            guard !self.ahead.contains(positions.position), !has(positions),
                let record = try self.ancestor(at: positions)
            else {
                self.knownParents.insert(name)
                break
            }
            missing.append(record)
            next = record.stored.parent
        }
        return missing
    }

    /// The ancestor; `nil` if it is not there for the requester.
    private mutating func ancestor(at positions: RecordPositions) throws(FeedFailure) -> NamedRecord? {
        let record = try FeedFailure.wrapping { () throws(StorageFailure) in
            try self.snapshot.record(self.key(positions.number))
        }
        guard let record else { return nil }
        if self.shared != nil {
            guard let grant = try self.grant(of: positions.number) else { return nil }
            guard ExactName.areSame(grant.share.root, record.name) else { return record }
            return NamedRecord(name: record.name, stored: record.stored.asRoot)
        }
        let stored = record.stored
        return try self.mayRead(type: stored.recordType, createdBy: stored.system.createdBy) ? record : nil
    }

    /// False: there is no room.
    private mutating func add(_ record: borrowing LentRecord) throws(FeedFailure) -> Bool {
        if let desiredKeys {
            if let hasRoom = record.keeping(desiredKeys, { self.addWhole($0) }) { return hasRoom }
        } else if !self.sink.readsFields || record.isIntact {
            return self.addWhole(record)
        }
        let name = String(decoding: record.name, as: UTF8.self)
        let id = RecordID(zone: self.read.zone, recordName: name)
        guard !self.sink.readsFields else { throw .refused(.recordDamaged(id)) }
        guard record.unreadable({ self.addWhole($0) }) else { return false }
        self.sink.note(damaged: id)
        return true
    }

    private mutating func addWhole(_ record: borrowing LentRecord) -> Bool {
        guard self.itemCount < self.read.limit else { return false }
        // A single record has room in any case, so that every page gets ahead.
        let size = record.fields.count
        guard self.itemCount == 0 || self.bytes + size <= self.budget.responseBytesMax else { return false }
        self.bytes += size
        self.sink.add(record)
        self.itemCount += 1
        return true
    }

    // MARK: Access

    private mutating func mayRead(_ record: borrowing LentRecord) throws(FeedFailure) -> Bool {
        guard self.isPublic else { return true }
        return try self.mayRead(
            type: String(decoding: record.recordType, as: UTF8.self),
            createdBy: String(decoding: record.system.createdBy, as: UTF8.self)
        )
    }

    private mutating func mayRead(type: String, createdBy creator: String) throws(FeedFailure) -> Bool {
        guard self.isPublic else { return true }
        return try self.access(toType: type).mayRead(recordCreatedBy: creator)
    }

    private mutating func access(toType type: String) throws(FeedFailure) -> TypeAccess {
        guard self.isPublic else { return .everything }
        if let known = self.accesses[type] { return known }
        let access = try FeedFailure.wrapping { () throws(StorageFailure) in
            try self.snapshot.access(toType: type, for: self.requester).inFeed(ofType: type)
        }
        self.accesses[type] = access
        return access
    }

    /// Whether the requester may read every record of the zone.
    ///
    /// No client may read all of a public zone, because it has the records of all users.
    var readsEverything: Bool {
        if let shared { return shared.zoneWide != nil }
        return !self.isPublic
    }
}
