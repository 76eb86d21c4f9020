import RecordModel
import StorageContract

/// The progress of installations in a zone, by rows and memory.
struct SeenInZone {
    /// In no order.
    var positions: [SeenInstallations.Key: SeenPosition]
    /// Whether there are more rows than were read.
    var isTruncated: Bool

    var users: [String] { Set(self.positions.keys.map(\.user)).sorted() }
}

extension ExplainExecution {
    private typealias Delivery = RecordExplanation.Delivery

    /// The part of a zone's rows that the requester may see.
    func seen(in zone: ZoneKey) throws(StorageFailure) -> SeenInZone {
        var seen = SeenInZone(positions: [:], isTruncated: false)
        let range: RowRange<InstallationSeenRow>
        if self.seesAll {
            range = RowRange(InstallationSeenRow.byKey, zone.database, zone.number)
        } else {
            guard let user = self.requester.userRecordName else { return seen }
            range = RowRange(InstallationSeenRow.byKey, zone.database, zone.number, user)
        }
        let rows = try self.snapshot.rows(range, limit: Self.listedMax + 1)
        seen.isTruncated = rows.count > Self.listedMax
        for row in rows { seen.positions[row.key] = row.seen }
        for (key, position) in self.unwritten.known(in: zone)
        where self.seesAll || key.user == self.requester.userRecordName {
            seen.positions[key, default: position].advance(to: position)
        }
        return seen
    }

    /// The state of the record at each user and installation, the users in their order.
    func deliveries(
        of subject: Subject,
        to readers: [ExplainedReader],
        _ seen: SeenInZone
    ) throws(StorageFailure) -> [RecordExplanation.Delivery] {
        let byUser = Dictionary(grouping: seen.positions, by: \.key.user)
        var count = ChangeCount(zone: subject.zone, snapshot: self.snapshot)
        var deliveries: [Delivery] = []
        for reader in readers where deliveries.count <= Self.listedMax {
            let rule = DeliveryRule(
                position: max(subject.stored.position, reader.arrival),
                expiredThrough: reader.expiredThrough
            )
            var installations: [[UInt8]: SeenPosition?] = [:]
            for (key, position) in byUser[reader.name] ?? [] {
                installations[key.installation] = .some(position)
            }
            for other in try self.otherInstallations(of: reader, in: subject.zone)
            where installations[other] == nil { installations[other] = .some(nil) }
            if installations.isEmpty { installations[[]] = .some(nil) }
            let sorted = installations.sorted {
                ($1.value?.atMilliseconds ?? 0, ColumnValue.bytes($0.key))
                    < ($0.value?.atMilliseconds ?? 0, ColumnValue.bytes($1.key))
            }
            for (installation, position) in sorted {
                deliveries.append(
                    try self.delivery(installation, position, of: reader, by: rule, &count)
                )
            }
        }
        return deliveries
    }

    private func delivery(
        _ installation: [UInt8],
        _ seen: SeenPosition?,
        of reader: ExplainedReader,
        by rule: DeliveryRule,
        _ count: inout ChangeCount
    ) throws(StorageFailure) -> RecordExplanation.Delivery {
        let known = seen.map { rule.known($0) }
        var delivery = Delivery(
            installation: installation,
            userRecordName: reader.name,
            state: reader.mayRead ? rule.state(seen) : .mayNotRead,
            position: known?.position ?? 0,
            seenMilliseconds: seen?.atMilliseconds ?? 0,
            why: reader.mayRead ? "" : reader.why
        )
        guard delivery.state == .isBehind, let known, let seen else { return delivery }
        // A count would tell users of changes that they may not see.
        if self.seesAll || reader.readsZone {
            delivery.changesBehind = UInt64(try count.changes(after: max(known.position, known.sent)))
        }
        if known.sent == 0 {
            delivery.why =
                seen.sent > 0
                ? "The rights of the user changed since: the installation fetches the zone anew."
                : "It is fetching the zone for the first time."
        }
        return delivery
    }

    /// Installations of a user that are known from other zones of the database, or from notifications.
    private func otherInstallations(
        of reader: ExplainedReader,
        in zone: ZoneKey
    ) throws(StorageFailure) -> Set<[UInt8]> {
        let rows = try self.snapshot.rows(
            RowRange(InstallationSeenRow.byUser, reader.name, zone.database),
            limit: Self.listedMax
        )
        var installations = self.unwritten.installations(of: reader.name, in: zone.database)
        installations.formUnion(rows.map(\.installation))
        let database = reader.sharedDatabase ?? zone.database
        for subscription in try self.snapshot.subscriptions(of: reader.name, in: database)
            .prefix(Self.subscriptionsReadMax)
        {
            let cursors = RowRange(ListenerCursorRow.byKey, subscription.number)
            for cursor in try self.snapshot.rows(cursors, limit: Self.listedMax) {
                installations.insert(cursor.installation)
            }
        }
        return installations
    }

    /// Maximum number of a user's subscriptions for which listeners are read.
    private static let subscriptionsReadMax = 100
}

/// Counts the changes of a zone behind positions, with a bound on all counts together.
struct ChangeCount {
    private let zone: ZoneKey
    private let snapshot: any Snapshot
    private var readsLeft = Self.readsMax
    private var known: [Int64: Int] = [:]

    /// The most that one count gives.
    static let countMax = 1_000
    /// Maximum number of changes that all counts read, stale ones included.
    static let readsMax = 20_000

    init(zone: ZoneKey, snapshot: any Snapshot) {
        self.zone = zone
        self.snapshot = snapshot
    }

    /// Records that changed or were deleted behind a position, up to `countMax`; 0 if too much was
    /// read before.
    mutating func changes(after position: Int64) throws(StorageFailure) -> Int {
        if let count = self.known[position] { return count }
        var walk = ChangeWalk(self.snapshot, zone: self.zone, after: position, hasMemberships: false)
        var count = 0
        while count < Self.countMax, let turn = try walk.next() {
            guard self.readsLeft > 0 else { return 0 }
            self.readsLeft -= 1
            switch turn {
            case .deletion: count += 1
            case .change(let change): if try walk.isLastOfRecord(change) { count += 1 }
            case .membership: continue
            }
        }
        self.known[position] = count
        return count
    }
}
