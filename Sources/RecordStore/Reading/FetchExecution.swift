package import RecordModel
package import StorageContract

/// Fetches records by ID, all from one snapshot.
///
/// A record goes from the engine's memory to the sink, unless it is not the same for every reader: a
/// share, or a record of another user's zone.
package struct FetchExecution {
    private let requester: Requester
    private let user: String
    private let bytesMax: Int
    private let snapshot: any Snapshot
    private let desiredKeys: Set<String>?
    private let sink: any FetchSink

    /// A zone that was asked for.
    private struct FetchedZone {
        let id: ZoneID
        /// `nil` if the zone is not there for the requester.
        let key: ZoneKey?
        /// The requester's rights in another user's zone; `nil` if the zone is their own.
        let shared: SharedAccess?
    }

    private var lastAccess: (type: String, access: TypeAccess)?
    private var bytes = 0
    private var entered = ZoneID.default

    /// The bytes of another user's zone that are read from the engine at a time; a record may
    /// exceed them once.
    private static let pieceBytes = 1_024 * 1_024

    package init(
        for requester: Requester,
        desiredKeys: [String]?,
        bytesMax: Int,
        snapshot: any Snapshot,
        into sink: any FetchSink
    ) {
        self.requester = requester
        self.user = requester.userRecordName ?? ""
        self.desiredKeys = desiredKeys.map { Set($0) }
        self.bytesMax = bytesMax
        self.snapshot = snapshot
        self.sink = sink
    }

    /// Gives the sink one item an ID, in order.
    ///
    /// Fails with `responseTooLarge` if the fields that are wanted take more than `bytesMax` together.
    package mutating func fetch(_ ids: [RecordID]) throws(StorageFailure) -> Result<Void, StoreError> {
        do throws(FeedFailure) {
            var rest = ids[...]
            while let first = rest.first {
                let end = rest.firstIndex { $0.zone != first.zone } ?? rest.endIndex
                try self.fetch(rest[..<end], in: self.zone(first.zone))
                rest = rest[end...]
            }
            return .success(())
        } catch {
            switch error {
            case .refused(let error): return .failure(error)
            case .storage(let failure): throw failure
            }
        }
    }

    /// Fetches one record, as `fetch` does.
    static func record(
        _ id: RecordID,
        desiredKeys: [String]? = nil,
        for requester: Requester,
        bytesMax: Int,
        snapshot: any Snapshot
    ) throws(StorageFailure) -> Result<Record, StoreError> {
        let found = FetchedRecords()
        var fetch = FetchExecution(
            for: requester,
            desiredKeys: desiredKeys,
            bytesMax: bytesMax,
            snapshot: snapshot,
            into: found
        )
        if case .failure(let error) = try fetch.fetch([id]) { return .failure(error) }
        switch found.outcomes[0] {
        case .record(let record): return .success(record)
        case .failed(let error): return .failure(error)
        case .zone, .shareMetadata, .identity, .explanation: return .failure(.internalFault)
        }
    }

    private func zone(_ id: ZoneID) throws(FeedFailure) -> FetchedZone {
        try FeedFailure.wrapping { () throws(StorageFailure) in
            let key = try self.snapshot.key(of: id, for: self.requester)
            var shared: SharedAccess?
            if self.requester.scope == .shared, let key {
                shared = try self.snapshot.sharedAccess(to: key, of: self.requester.database)
            }
            return FetchedZone(id: id, key: shared?.isEmpty == true ? nil : key, shared: shared)
        }
    }

    private mutating func fetch(_ ids: ArraySlice<RecordID>, in zone: FetchedZone) throws(FeedFailure) {
        guard let key = zone.key else {
            for id in ids { self.sink.add(.missing(id.zone)) }
            return
        }
        self.sink.enter(zone.id)
        self.entered = zone.id
        let names = ids.map(\.recordName)
        guard let shared = zone.shared else { return try self.fetchOwn(names, in: key) }
        try self.fetchShared(names, in: key, shared)
    }

    // MARK: The requester's own zones, and public ones

    private mutating func fetchOwn(_ names: [String], in zone: ZoneKey) throws(FeedFailure) {
        var next = 0
        try self.snapshot.visitRecords(named: names, in: zone) {
            (offset, row: borrowing FeedRow) throws(FeedFailure) in
            while next < offset { self.addMissing(names[next], &next) }
            next += 1
            try self.take(row.record)
            return true
        }
        while next < names.count { self.addMissing(names[next], &next) }
    }

    private func addMissing(_ name: String, _ next: inout Int) {
        self.sink.add(.missing(recordNamed: name))
        next += 1
    }

    private mutating func take(_ record: borrowing LentRecord) throws(FeedFailure) {
        guard try self.mayRead(record) else { return self.sink.add(.permissionDenied(.read)) }
        guard record.isShare else { return try self.add(record) }
        var share = record.record(in: .default)
        share.body = share.body.seen(by: self.user)
        try share.lentThrowing { (share) throws(FeedFailure) in try self.add(share) }
    }

    /// Read in the snapshot: a role that is taken away counts from the next request on.
    private mutating func mayRead(_ record: borrowing LentRecord) throws(FeedFailure) -> Bool {
        guard self.requester.scope == .public else { return true }
        let type = String(decoding: record.recordType, as: UTF8.self)
        let access = try FeedFailure.wrapping { () throws(StorageFailure) in try self.access(toType: type) }
        return access.mayRead(
            recordCreatedBy: String(decoding: record.system.createdBy, as: UTF8.self)
        )
    }

    private mutating func access(toType type: String) throws(StorageFailure) -> TypeAccess {
        if let last = self.lastAccess, last.type == type { return last.access }
        let access = try self.snapshot.access(toType: type, for: self.requester)
        self.lastAccess = (type, access)
        return access
    }

    // MARK: Zones of other users

    private mutating func fetchShared(
        _ names: [String],
        in zone: ZoneKey,
        _ shared: SharedAccess
    ) throws(FeedFailure) {
        var rest = names[...]
        while !rest.isEmpty {
            let (records, shares) = try FeedFailure.wrapping { () throws(StorageFailure) in
                let records = try self.snapshot.records(named: rest, in: zone, bytesMax: Self.pieceBytes)
                return (records, try self.shares(of: records, in: zone, shared))
            }
            var share = shares[...]
            for (name, record) in zip(rest, records) {
                guard let record else {
                    self.sink.add(.missing(recordNamed: name))
                    continue
                }
                try self.take(record, named: name, shared.grant(coveredBy: share.popFirst() ?? nil))
            }
            rest = rest.dropFirst(records.count)
        }
    }

    /// The shares of the records that exist, in order, if they matter.
    private func shares(
        of records: [StoredRecord?],
        in zone: ZoneKey,
        _ shared: SharedAccess
    ) throws(StorageFailure) -> [ShareNumber?] {
        guard shared.zoneWide == nil else { return [] }
        let keys = records.compactMap { $0.map { RecordKey(zone: zone, number: $0.number) } }
        return try self.snapshot.memberships(of: keys).map { $0?.share }
    }

    private mutating func take(
        _ record: StoredRecord,
        named name: String,
        _ grant: ShareGrant?
    ) throws(FeedFailure) {
        guard let grant else { return self.sink.add(.recordMissing) }
        let seen = (ExactName.areSame(grant.share.root, name) ? record.asRoot : record).seen(by: self.user)
        let id = RecordID(zone: .default, recordName: name)
        try seen.record(id: id).lentThrowing { (lent) throws(FeedFailure) in try self.add(lent) }
    }

    // MARK: Adding

    private mutating func add(_ record: borrowing LentRecord) throws(FeedFailure) {
        let hasRoom: Bool?
        if let desiredKeys {
            hasRoom = record.keeping(desiredKeys) { self.addWhole($0) }
        } else if self.sink.readsFields, !record.isIntact {
            hasRoom = nil
        } else {
            hasRoom = self.addWhole(record)
        }
        guard let hasRoom else {
            let name = String(decoding: record.name, as: UTF8.self)
            return self.sink.add(.recordDamaged(RecordID(zone: self.entered, recordName: name)))
        }
        guard hasRoom else { throw .refused(.responseTooLarge(bytes: self.bytes)) }
    }

    private mutating func addWhole(_ record: borrowing LentRecord) -> Bool {
        self.bytes += record.fields.count
        guard self.bytes <= self.bytesMax else { return false }
        self.sink.add(record)
        return true
    }
}
