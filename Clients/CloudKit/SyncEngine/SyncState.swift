/// What an engine knows: whose data, how far it has fetched, what waits to be sent.
///
/// A value, which an app keeps between launches. Whatever is taken into it is known to the app already: tokens move on when what came
/// before them was handled.
struct SyncState: Sendable {
    /// How far the changes of a zone were fetched.
    struct Progress: Hashable, Sendable {
        /// `nil`: nothing was, or the token has expired.
        var token: CKServerChangeToken?
        /// Whether the server has changes that were not fetched.
        var isBehind = false
        /// Whether the app has records of which some may have been deleted unheard, since a token has expired or there was none when
        /// they were sent: everything is fetched from the beginning, in one go.
        var startsAnew = false
    }

    /// The record name of the user; `nil`: nobody.
    private(set) var user: String?
    /// How far the changes of the database were fetched; `nil`: nothing was, or the token has expired.
    private(set) var databaseToken: CKServerChangeToken?
    /// Whether zones may have been deleted unheard, since the token has expired or there was none when the app made a zone.
    private(set) var databaseStartsAnew = false
    /// The zones of the server, as far as they are known.
    private(set) var zones: [CKRecordZone.ID: Progress] = [:]
    private(set) var records = PendingRecordChanges()
    private(set) var zoneChanges = PendingZoneChanges()
    private(set) var hasUntrackedChanges = false
    private var untrackedStamp: UInt64 = 0
    /// Rises with every change.
    private(set) var revision: UInt64 = 0

    init() {}

    /// Whether there is anything to send.
    var hasPending: Bool {
        !self.records.isEmpty || !self.zoneChanges.isEmpty || self.hasUntrackedChanges
    }

    /// Zones with changes that were not fetched, by name.
    var zonesBehind: [CKRecordZone.ID] {
        self.zones.filter(\.value.isBehind).keys
            .sorted { ($0.zoneName, $0.ownerName) < ($1.zoneName, $1.ownerName) }
    }
}

/// What waits to be sent.
extension SyncState {
    /// Names a moment: what is added later is not included in what a delegate was asked for then.
    struct Moment: Hashable, Sendable {
        var records: UInt64
        var zones: UInt64
        var untracked: UInt64
    }

    var moment: Moment {
        Moment(
            records: self.records.stamp,
            zones: self.zoneChanges.stamp,
            untracked: self.untrackedStamp
        )
    }

    mutating func add(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        for change in changes { self.records.add(change) }
        if !changes.isEmpty { self.revision += 1 }
    }

    mutating func add(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        for change in changes { self.zoneChanges.add(change) }
        if !changes.isEmpty { self.revision += 1 }
    }

    mutating func remove(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        self.settle(changes, asOf: .max)
    }

    mutating func remove(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        self.settle(changes, asOf: .max)
    }

    /// Removes what was sent, but not what was asked for again after a moment.
    mutating func settle(_ changes: [CKSyncEngine.PendingRecordZoneChange], asOf stamp: UInt64) {
        var isChanged = false
        for change in changes where self.records.remove(change, asOf: stamp) { isChanged = true }
        if isChanged { self.revision += 1 }
    }

    /// Removes what was sent, but not what was asked for again after a moment.
    mutating func settle(_ changes: [CKSyncEngine.PendingDatabaseChange], asOf stamp: UInt64) {
        var isChanged = false
        for change in changes where self.zoneChanges.remove(change, asOf: stamp) { isChanged = true }
        if isChanged { self.revision += 1 }
    }

    mutating func setUntracked(_ hasChanges: Bool) {
        if hasChanges { self.untrackedStamp += 1 }
        guard self.hasUntrackedChanges != hasChanges else { return }
        self.hasUntrackedChanges = hasChanges
        self.revision += 1
    }

    /// The app was asked at a moment and had nothing more.
    mutating func untrackedAreSent(asOf moment: Moment) {
        if self.untrackedStamp == moment.untracked { self.setUntracked(false) }
    }
}

/// Whose data.
extension SyncState {
    /// Another user, or nobody: nothing of what was known holds.
    mutating func reset(to user: String?) {
        let revision = self.revision
        let (records, zones, untracked) = (self.records, self.zoneChanges, self.untrackedStamp)
        self = SyncState()
        // Stamps go on, for those that still hold one.
        self.records = records
        self.records.removeAll()
        self.zoneChanges = zones
        self.zoneChanges.removeAll()
        self.untrackedStamp = untracked
        self.user = user
        self.revision = revision + 1
    }

    /// The first user: what waits to be sent is his.
    mutating func signIn(_ user: String) {
        self.user = user
        self.revision += 1
    }
}

/// How far it was fetched.
extension SyncState {
    /// From the answers to what was sent, the app has zones of the server, and records in some of them.
    ///
    /// What of it was deleted before a first fetch, which begins without a token, no server tells: so that starts anew as well.
    mutating func heard(of zones: Set<CKRecordZone.ID>, recordsIn zonesWithRecords: Set<CKRecordZone.ID>) {
        for zone in zones.union(zonesWithRecords) where zone != .default {
            var progress = self.zones[zone] ?? Progress()
            if progress.token == nil, zonesWithRecords.contains(zone) { progress.startsAnew = true }
            guard self.zones[zone] != progress else { continue }
            self.zones[zone] = progress
            if self.databaseToken == nil { self.databaseStartsAnew = true }
            self.revision += 1
        }
    }

    /// A page of the database's changes was handled.
    ///
    /// - Parameters:
    ///   - changed: Zones with changes.
    ///   - deleted: Zones that are no more.
    ///   - token: Where the next page begins; `nil` within pages that are only good together.
    mutating func databasePage(
        changed: [CKRecordZone.ID],
        deleted: [CKRecordZone.ID],
        token: CKServerChangeToken?
    ) {
        for zone in changed { self.zones[zone, default: Progress()].isBehind = true }
        for zone in deleted { self.zones[zone] = nil }
        if let token {
            self.databaseToken = token
            self.databaseStartsAnew = false
        }
        self.revision += 1
    }

    /// The server does not know any more what happened to zones since the token.
    mutating func databaseTokenExpired() {
        self.databaseToken = nil
        self.databaseStartsAnew = true
        self.revision += 1
    }

    /// A page of a zone's changes was handled.
    ///
    /// - Parameters:
    ///   - zone: Which.
    ///   - token: Where the next page begins.
    ///   - isLast: Whether there is nothing more.
    mutating func zonePage(_ zone: CKRecordZone.ID, token: CKServerChangeToken, isLast: Bool) {
        guard var progress = self.zones[zone] else { return }
        // Whoever starts anew is through with all of it or with nothing: what did not come was deleted.
        if !progress.startsAnew || isLast { progress.token = token }
        if isLast {
            progress.isBehind = false
            progress.startsAnew = false
        }
        self.zones[zone] = progress
        self.revision += 1
    }

    /// The server does not know any more what happened in the zone since the token.
    mutating func zoneTokenExpired(_ zone: CKRecordZone.ID) {
        self.zones[zone] = Progress(token: nil, isBehind: true, startsAnew: true)
        self.revision += 1
    }

    /// The zone is not there; the database's changes will say whether it was deleted or created again.
    mutating func zoneMissing(_ zone: CKRecordZone.ID) {
        guard let progress = self.zones[zone] else { return }
        let hadRecords = progress.token != nil || progress.startsAnew
        self.zones[zone] = Progress(token: nil, isBehind: false, startsAnew: hadRecords)
        self.revision += 1
    }
}

/// Being kept.
extension SyncState {
    init(
        user: String?,
        databaseToken: CKServerChangeToken?,
        databaseStartsAnew: Bool,
        zones: [CKRecordZone.ID: Progress],
        hasUntrackedChanges: Bool
    ) {
        self.user = user
        self.databaseToken = databaseToken
        self.databaseStartsAnew = databaseStartsAnew
        self.zones = zones
        self.hasUntrackedChanges = hasUntrackedChanges
    }
}
