import RecordModel
import StorageContract

/// Reads the last changes of a zone or a database, and tests a subscription on each.
///
/// The order of changes is read forwards only. So the run looks behind a position that is a few
/// positions from the end, and goes back further until enough changes are left:
///
///     0 ──────────────────────────────────────── end
///                              └─ 4 × limit ───┘   too few that still count?
///       └──────────────── 8 × as many ─────────┘   and so on, within `readsMax`
struct SubscriptionTrialExecution {
    /// Maximum number of entries that all runs together read; beyond it the run reports the changes
    /// found so far.
    static let readsMax = 20_000
    private static let firstFactor: Int64 = 4
    private static let nextFactor: Int64 = 8
    /// Zones that one look goes through; more than have room in the first.
    private static let zonesMax = 4_096

    private let read: SubscriptionTrialRead
    private let requester: Requester
    private let snapshot: any Snapshot
    private let limit: Int
    private var result = SubscriptionTrial()
    private var shapes: [String: RecordTypeShape] = [:]
    private var accesses: [String: TypeAccess] = [:]

    /// A change that counts: of an existing record, or a deletion.
    private struct Found {
        var zone: FoundZone
        var turn: ChangeWalk.Turn
        var position: Int64
    }

    private struct FoundZone {
        var name: String
        var key: ZoneKey
    }

    init(_ read: SubscriptionTrialRead, for requester: Requester, snapshot: any Snapshot) {
        self.read = read
        self.requester = requester
        self.snapshot = snapshot
        self.limit = min(max(1, read.limit), SubscriptionTrial.linesMax)
    }

    consuming func trial() throws(StorageFailure) -> Result<SubscriptionTrial, StoreError> {
        if let error = try self.refusal() { return .failure(error) }
        var named: FoundZone?
        if let zone = self.read.zone {
            guard let key = try self.snapshot.key(of: zone, for: self.requester) else {
                return .failure(.zoneMissing)
            }
            named = FoundZone(name: zone.zoneName, key: key)
        }
        for found in try self.lastChanges(of: named).reversed() {
            if let line = try self.line(of: found) { self.result.lines.append(line) }
        }
        return .success(self.result)
    }

    /// The error with which a save of the subscription would fail.
    private func refusal() throws(StorageFailure) -> StoreError? {
        do {
            try SubscriptionRules.check(self.read.subscription, scope: self.requester.scope)
        } catch {
            return error
        }
        // A condition that was saved holds, even if the schema has lost an index since.
        guard self.read.savedPosition == nil,
            case .query(let type, let predicate, _, _) = self.read.subscription.kind
        else { return nil }
        let definitions = try self.snapshot.fields(ofType: type, in: self.requester.environment)
        do {
            _ = try QueryCheck.check(predicate, type: QueryableType(definitions))
            return nil
        } catch {
            return error
        }
    }

    // MARK: The last changes

    /// In the order of the database.
    private mutating func lastChanges(of zone: FoundZone?) throws(StorageFailure) -> [Found] {
        let database = zone?.key.database ?? self.requester.database
        let end = try (self.snapshot.state(of: database)?.position ?? 0).counted()
        var span = Self.firstFactor * Int64(self.limit)
        var found: [Found] = []
        while true {
            let start = max(0, end - span)
            guard let changes = try self.changes(after: start, of: zone) else { return found }
            found = Array(changes.suffix(self.limit))
            self.result.isComplete = start == 0 && changes.count <= self.limit
            guard start > 0, changes.count < self.limit else { return found }
            span *= Self.nextFactor
        }
    }

    /// All that counts behind a position; `nil` if that is more than may be read.
    private mutating func changes(
        after start: Int64,
        of zone: FoundZone?
    ) throws(StorageFailure) -> [Found]? {
        var zones: [FoundZone] = []
        if let zone {
            zones = [zone]
        } else {
            let changed = try self.snapshot.zones(
                of: self.requester.database,
                after: start,
                limit: Self.zonesMax
            )
            guard changed.count < Self.zonesMax else { return nil }
            zones = changed.map { FoundZone(name: $0.name, key: $0.key) }
        }
        var found: [Found] = []
        for zone in zones {
            var walk = ChangeWalk(self.snapshot, zone: zone.key, after: start, hasMemberships: false)
            while let turn = try walk.next() {
                guard self.result.changesRead < Self.readsMax else { return nil }
                self.result.changesRead += 1
                switch turn {
                case .deletion(let deletion):
                    found.append(Found(zone: zone, turn: turn, position: deletion.position))
                case .change(let change):
                    guard try walk.isLastOfRecord(change) else { continue }
                    found.append(Found(zone: zone, turn: turn, position: change.position))
                case .membership: continue
                }
            }
        }
        return found.sorted { $0.position < $1.position }
    }

    // MARK: Verdicts

    private mutating func line(of found: Found) throws(StorageFailure) -> SubscriptionTrial.Line? {
        var line: SubscriptionTrial.Line?
        switch found.turn {
        case .deletion(let deletion): line = try self.line(of: deletion, in: found.zone)
        case .change(let change): line = try self.line(of: change, in: found.zone)
        case .membership: break
        }
        if let saved = self.read.savedPosition, line?.verdict == .fires, found.position <= saved {
            line?.why += " The subscription was saved after this change."
        }
        return line
    }

    private mutating func line(
        of change: FeedChange,
        in zone: FoundZone
    ) throws(StorageFailure) -> SubscriptionTrial.Line? {
        let key = RecordKey(zone: zone.key, number: change.record)
        guard let named = try self.snapshot.record(key),
            let positions = try self.snapshot.positions(ofRecordNamed: named.name, in: zone.key)
        else { return nil }
        self.result.recordsRead += 1
        let stored = named.stored
        let id = RecordID(zone: ZoneID(zoneName: zone.name), recordName: named.name)
        let isCreation = stored.position == positions.createdPosition
        let record = ComparedRecord(named)
        let match = SubscriptionMatch(
            of: self.read.subscription.kind,
            savedAt: .min,
            change: SubscriptionMatch.Change(
                record: record,
                zone: id.zone,
                position: stored.position,
                isCreation: isCreation,
                scope: self.requester.scope
            ),
            shape: try self.shape(ofType: stored.recordType),
            mayRead: try self.access(toType: stored.recordType).mayRead(stored)
        )
        self.result.comparisons += record.comparisons
        return SubscriptionTrial.Line(
            position: stored.position,
            id: id,
            recordType: stored.recordType,
            event: isCreation ? .creation : .update,
            modifiedMilliseconds: stored.system.modifiedMilliseconds,
            verdict: match.isMatch ? .fires : .doesNotFire,
            why: match.why
        )
    }

    private mutating func line(
        of deletion: FeedDeletion,
        in zone: FoundZone
    ) throws(StorageFailure) -> SubscriptionTrial.Line {
        let id = RecordID(zone: ZoneID(zoneName: zone.name), recordName: deletion.name)
        var line = SubscriptionTrial.Line(
            position: deletion.position,
            id: id,
            recordType: deletion.recordType,
            event: .deletion,
            modifiedMilliseconds: nil,
            verdict: .doesNotFire,
            why: ""
        )
        let subject = SubscriptionMatch.Subject(
            zone: id.zone,
            recordType: deletion.recordType,
            scope: self.requester.scope
        )
        let kind = self.read.subscription.kind
        if let other = SubscriptionMatch.otherSubject(kind, subject) {
            line.why = other.why
        } else if case .query(_, let predicate, _, let firesOn) = kind {
            let mayRead = try self.access(toType: deletion.recordType)
                .mayRead(recordCreatedBy: deletion.createdBy)
            if !firesOn.contains(.deletion) {
                line.why = "The record was deleted, for which it does not fire."
            } else if !mayRead {
                line.why = "Its user may not read the record."
            } else if predicate == .all {
                (line.verdict, line.why) = (.fires, "The record was deleted.")
            } else {
                line.verdict = .unknown
                line.why = "The record is gone, so its condition cannot be tested."
            }
        } else {
            (line.verdict, line.why) = (.fires, "Every change there fires it.")
        }
        return line
    }

    private mutating func shape(ofType type: String) throws(StorageFailure) -> RecordTypeShape {
        if let known = self.shapes[type] { return known }
        let shape = RecordTypeShape(try self.snapshot.fields(ofType: type, in: self.requester.environment))
        self.shapes[type] = shape
        return shape
    }

    /// The rights of the subscription's user.
    private mutating func access(toType type: String) throws(StorageFailure) -> TypeAccess {
        guard self.requester.scope == .public else { return .everything }
        if let known = self.accesses[type] { return known }
        var user = self.requester
        user.isOperator = false
        let access = try self.snapshot.access(toType: type, for: user)
        self.accesses[type] = access
        return access
    }
}
