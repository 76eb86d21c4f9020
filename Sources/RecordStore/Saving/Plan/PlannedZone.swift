import RecordModel
import StorageContract

/// The zone of a plan: the request, the requester's shares in the zone, and the records that the plan
/// has read.
///
/// Records are kept as they were before the request. One object for all parts of a plan.
final class PlannedZone {
    let rule: ModifyRecordsRule
    let id: ZoneID
    let key: ZoneKey
    /// The requester's rights in another user's zone.
    ///
    /// `nil` if the zone is the requester's own, or the public database's.
    let shared: SharedAccess?
    /// The shares of the zone: as they were before the request, and while it is applied with those
    /// that it makes and without those that it ends.
    var shares: ZoneShares
    /// Records that were read and may be needed again.
    private var known: [ExactName: StoredRecord?] = [:]
    /// The shares of records, by number, that were read and may be needed again.
    private var knownMemberships: [Int64: ShareNumber?] = [:]

    /// Bounds the memory for the bodies of records that are read in one call before they are deleted.
    static let recordsReadMax = 32
    /// The same for a request without a bound of its bytes.
    private static let bytesReadMax = 8 << 20

    private init(
        rule: ModifyRecordsRule,
        id: ZoneID,
        key: ZoneKey,
        shared: SharedAccess?,
        shares: ZoneShares
    ) {
        self.rule = rule
        self.id = id
        self.key = key
        self.shared = shared
        self.shares = shares
    }

    /// Finds the zone of a request; `nil` if it is not there for the requester.
    static func find(_ id: ZoneID, for rule: ModifyRecordsRule) throws(StorageFailure) -> PlannedZone? {
        let requester = rule.requester
        guard let name = Access.storedName(of: id, for: requester),
            let key = try rule.transaction.zone(named: name, in: requester.database)
        else { return nil }
        var shared: SharedAccess?
        if requester.scope == .shared {
            let access = try rule.transaction.sharedAccess(to: key, of: requester.database)
            guard !access.isEmpty else { return nil }
            shared = access
        }
        let shares =
            requester.scope == .public ? ZoneShares() : try rule.transaction.rememberedShares(in: key)
        return PlannedZone(rule: rule, id: id, key: key, shared: shared, shares: shares)
    }

    var transaction: any WriteTransaction { self.rule.transaction }

    // MARK: Records

    /// Reads the records that the request saves, as they are before it, with the shares to which they
    /// belong if the requester's rights depend on these.
    ///
    /// A name is saved once in a request, so these are not among the records that are kept.
    ///
    /// - Throws: `exceeds` if their bodies have more bytes than a request may change.
    func recordsStored(_ names: [String]) throws(StorageFailure) -> [StoredRecord?] {
        let work = self.rule.work
        let records = try self.transaction.records(
            named: names[...],
            in: self.key,
            bytesMax: work.storedBytesLeft
        )
        try work.count(storedBytes: records.reduce(0) { $0 + ($1?.body.bytes.count ?? 0) })
        try self.readMemberships(of: records)
        return records
    }

    /// Reads records that the plan will need, in one call.
    func read(_ names: [String]) throws(StorageFailure) {
        let missing = Set(names.map(ExactName.init)).filter { self.known[$0] == nil }.map(\.text)
        guard !missing.isEmpty else { return }
        try self.keep(self.transaction.records(named: missing, in: self.key), named: missing[...])
    }

    /// Reads records that the request deletes, in one call, up to the one with which their bodies take
    /// more than a bound; returns how many of the names were read.
    ///
    /// - Throws: `exceeds` if the deletes exceed the bound of a request.
    func read(deleted names: ArraySlice<String>) throws(StorageFailure) -> Int {
        let work = self.rule.work
        let bytesMax = work.storedBytesLeft == .max ? PlannedZone.bytesReadMax : work.storedBytesLeft
        let records = try self.transaction.records(named: names, in: self.key, bytesMax: bytesMax)
        try work.count(storedBytes: records.reduce(0) { $0 + ($1?.body.bytes.count ?? 0) })
        try self.keep(records, named: names.prefix(records.count))
        return records.count
    }

    private func keep(_ records: [StoredRecord?], named names: ArraySlice<String>) throws(StorageFailure) {
        for (name, record) in zip(names, records) { self.known[ExactName(name)] = .some(record) }
        try self.readMemberships(of: records)
    }

    /// Forgets the records that were read: before the first write, they can be read again.
    func forgetRecords() { self.known = [:] }

    private func readMemberships(of records: [StoredRecord?]) throws(StorageFailure) {
        guard self.shared != nil else { return }
        let keys = records.compactMap { $0 }.map { self.key(of: $0) }
        guard !keys.isEmpty else { return }
        for (key, row) in zip(keys, try self.transaction.memberships(of: keys)) {
            self.knownMemberships[key.number] = .some(self.share(of: row))
        }
    }

    /// The record as it was before the request.
    func stored(_ name: String) throws(StorageFailure) -> StoredRecord? {
        if let known = self.known[ExactName(name)] { return known }
        let record = try self.transaction.record(named: name, in: self.key)
        self.known[ExactName(name)] = .some(record)
        return record
    }

    func key(of record: StoredRecord) -> RecordKey { RecordKey(zone: self.key, number: record.number) }

    /// Reads which records have a record as their parent, one more than a cascade may have at most.
    func children(of name: String) throws(StorageFailure) -> [String] {
        try self.transaction.referrers(
            of: name,
            in: self.key,
            behind: "",
            limit: self.rule.bounds.cascadeRecordsMax + 1
        ).filter { $0.kinds.contains(.parent) }.map(\.name)
    }

    // MARK: Shares

    /// The share that a stored record belonged to before the request; `nil` if there was none.
    func membership(of record: StoredRecord) throws(StorageFailure) -> ShareNumber? {
        guard !self.shares.isEmpty else { return nil }
        if let known = self.knownMemberships[record.number] { return known }
        let share = try self.storedMembership(of: record)
        self.knownMemberships[record.number] = .some(share)
        return share
    }

    /// The share that a stored record belongs to now; `nil` if there is none.
    func storedMembership(of record: StoredRecord) throws(StorageFailure) -> ShareNumber? {
        guard !self.shares.isEmpty else { return nil }
        return self.share(of: try self.transaction.membership(of: self.key(of: record)))
    }

    /// The share of a membership, if it exists.
    func share(of membership: MembershipRow?) -> ShareNumber? {
        membership.flatMap { self.shares[$0.share]?.number }
    }

    /// Whether the requester may see a record.
    func isThere(_ record: StoredRecord) throws(StorageFailure) -> Bool {
        guard let shared = self.shared else { return true }
        return try shared.grant(coveredBy: self.membership(of: record)) != nil
    }

    /// Whether a record is the root of a share that the requester has joined.
    ///
    /// The requester must not learn of the ancestors of such a record.
    func isForeignRoot(_ name: String) -> Bool {
        self.shared != nil && self.shares.share(ofRoot: name) != nil
    }
}
