package import RecordModel

/// Fetches records by ID, all from one snapshot.
package struct FetchExecution {
    private let requester: Requester
    private let user: String
    private let bytesMax: Int
    private let snapshot: any Snapshot
    private let desiredKeys: Set<String>?

    /// The zone that was asked for last: most requests name one.
    private struct FetchedZone {
        let id: ZoneID
        /// `nil` if the zone is not there for the requester.
        let key: ZoneKey?
        /// The requester's rights in a zone of somebody else; `nil` if it is not one.
        let shared: SharedAccess?
    }

    private var lastZone: FetchedZone?
    private var lastAccess: (type: String, access: TypeAccess)?
    private var results: [ReadOutcome] = []
    private var bytes = 0

    /// So much is read from the engine at a time, beyond which a record more is held at most.
    private static let pieceBytes = 1_024 * 1_024

    package init(
        for requester: Requester,
        desiredKeys: [String]?,
        bytesMax: Int,
        snapshot: any Snapshot
    ) {
        self.requester = requester
        self.user = requester.userRecordName ?? ""
        self.desiredKeys = desiredKeys.map { Set($0) }
        self.bytesMax = bytesMax
        self.snapshot = snapshot
    }

    /// One result an ID, in order; `answerTooLarge` if the fields that are wanted take more than
    /// `bytesMax` together.
    package mutating func outcomes(
        _ ids: [RecordID]
    ) throws(StorageFailure) -> Result<[ReadOutcome], StoreError> {
        self.results.reserveCapacity(ids.count)
        var index = 0
        while index < ids.count {
            let zone = try self.zone(ids[index].zone)
            var end = index + 1
            while end < ids.count, ids[end].zone == zone.id { end += 1 }
            try self.fetch(ids[index..<end], in: zone)
            guard self.bytes <= self.bytesMax else {
                return .failure(.answerTooLarge(bytes: self.bytes))
            }
            index = end
        }
        return .success(self.results)
    }

    private mutating func zone(_ id: ZoneID) throws(StorageFailure) -> FetchedZone {
        if let last = self.lastZone, last.id == id { return last }
        let key = try self.snapshot.key(of: id, for: self.requester)
        var shared: SharedAccess?
        if self.requester.scope == .shared, let key {
            shared = try self.snapshot.sharedAccess(to: key, of: self.requester.database)
        }
        let zone = FetchedZone(id: id, key: shared?.isEmpty == true ? nil : key, shared: shared)
        self.lastZone = zone
        return zone
    }

    /// Stops when the response is too large.
    private mutating func fetch(_ ids: ArraySlice<RecordID>, in zone: FetchedZone) throws(StorageFailure) {
        guard let key = zone.key else {
            for id in ids { self.results.append(.failed(.missing(id.zone))) }
            return
        }
        guard ids.count > 1 else {
            let id = ids[ids.startIndex]
            let record = try self.snapshot.record(named: id.recordName, in: key)
            var share: ShareNumber?
            if let record { share = try self.membership(of: record.number, in: key, zone.shared) }
            return try self.add(record, id, in: zone, share)
        }
        var names = ids.map(\.recordName)[...]
        var index = ids.startIndex
        while !names.isEmpty, self.bytes <= self.bytesMax {
            let piece = try self.snapshot.records(named: names, in: key, bytesMax: Self.pieceBytes)
            var shares = try self.memberships(of: piece, in: key, zone.shared)[...]
            for record in piece where self.bytes <= self.bytesMax {
                let share = record == nil ? nil : shares.popFirst() ?? nil
                try self.add(record, ids[index], in: zone, share)
                index += 1
            }
            names = names.dropFirst(piece.count)
        }
    }

    /// The share of one record, if it matters.
    private func membership(
        of number: Int64,
        in zone: ZoneKey,
        _ shared: SharedAccess?
    ) throws(StorageFailure) -> ShareNumber? {
        guard let shared, shared.zoneWide == nil else { return nil }
        return try self.snapshot.membership(of: RecordKey(zone: zone, number: number))?.share
    }

    /// The shares of the records that are there, in order, if they matter.
    private func memberships(
        of records: [StoredRecord?],
        in zone: ZoneKey,
        _ shared: SharedAccess?
    ) throws(StorageFailure) -> [ShareNumber?] {
        guard let shared, shared.zoneWide == nil else { return [] }
        let keys = records.compactMap { $0.map { RecordKey(zone: zone, number: $0.number) } }
        return try self.snapshot.memberships(of: keys).map { $0?.share }
    }

    /// Adds what becomes of one record; `share` is the one that it belongs to.
    private mutating func add(
        _ record: StoredRecord?,
        _ id: RecordID,
        in zone: FetchedZone,
        _ share: ShareNumber?
    ) throws(StorageFailure) {
        guard var stored = record else {
            self.results.append(.failed(.missing(recordNamed: id.recordName)))
            return
        }
        if let shared = zone.shared {
            guard let grant = shared.grant(coveredBy: share) else {
                self.results.append(.failed(.recordMissing))
                return
            }
            if grant.share.root == id.recordName { stored = stored.asRoot }
        }
        if self.requester.scope == .public {
            // Read in the snapshot: a role that is taken away counts from the next request on.
            guard try self.access(toType: stored.recordType).mayRead(stored) else {
                self.results.append(.failed(.permissionDenied(.read)))
                return
            }
        }
        let found = stored.seen(by: self.user).record(id: id, keeping: self.desiredKeys)
        self.bytes += found.body.bytes.count
        self.results.append(.record(found))
    }

    private mutating func access(toType type: String) throws(StorageFailure) -> TypeAccess {
        if let last = self.lastAccess, last.type == type { return last.access }
        let access = try self.snapshot.access(toType: type, for: self.requester)
        self.lastAccess = (type, access)
        return access
    }
}
