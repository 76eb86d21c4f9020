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
    /// Whether somebody was signed in before `user`, or before nobody was.
    private(set) var hadUser = false
    /// How far the changes of the database were fetched; `nil`: nothing was, or the token has expired.
    private(set) var databaseToken: CKServerChangeToken?
    /// Whether zones may have been deleted unheard, since the token has expired or there was none when the app made a zone.
    private(set) var databaseStartsAnew = false
    /// The zones of the server, as far as they are known.
    private(set) var zones: [CKRecordZone.ID: Progress] = [:]
    private(set) var records = PendingRecordChanges()
    private(set) var zoneChanges = PendingZoneChanges()
    /// Changes that are on their way, and pending no more; pending as far as the kept state is concerned.
    private(set) var recordsInFlight: [CKSyncEngine.PendingRecordZoneChange] = []
    private(set) var zonesInFlight: [CKSyncEngine.PendingDatabaseChange] = []
    private(set) var hasUntrackedChanges = false
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
    mutating func add(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        for change in changes { self.records.add(change) }
        if !changes.isEmpty { self.revision += 1 }
    }

    mutating func add(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        for change in changes { self.zoneChanges.add(change) }
        if !changes.isEmpty { self.revision += 1 }
    }

    /// Removes changes; those on their way are not pending again if they fail.
    mutating func remove(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        var isChanged = false
        for change in changes where self.records.remove(change) { isChanged = true }
        if isChanged { self.revision += 1 }
        self.settle(changes)
    }

    /// Removes changes; those on their way are not pending again if they fail.
    mutating func remove(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        var isChanged = false
        for change in changes where self.zoneChanges.remove(change) { isChanged = true }
        if isChanged { self.revision += 1 }
        self.settle(changes)
    }

    mutating func setUntracked(_ hasChanges: Bool) {
        guard self.hasUntrackedChanges != hasChanges else { return }
        self.hasUntrackedChanges = hasChanges
        self.revision += 1
    }
}

/// What is on its way.
extension SyncState {
    /// Takes changes out of the pending ones, to be sent; but not what was asked for again after a stamp.
    ///
    /// The kept state stays the same, so this is no revision.
    mutating func take(_ changes: [CKSyncEngine.PendingRecordZoneChange], asOf stamp: UInt64) {
        self.recordsInFlight += changes.filter { self.records.remove($0, asOf: stamp) }
    }

    /// Takes the changes of zones that are to be sent next.
    mutating func takeZones(
        countMax: Int,
        where isWanted: (CKRecordZone.ID) -> Bool
    ) -> [CKSyncEngine.PendingDatabaseChange] {
        let changes = self.zoneChanges.batch(countMax: countMax, where: isWanted)
        for change in changes { self.zoneChanges.remove(change) }
        self.zonesInFlight += changes
        return changes
    }

    /// Changes are done, or the app's.
    mutating func settle(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        let (settled, count) = (Set(changes), self.recordsInFlight.count)
        self.recordsInFlight.removeAll { settled.contains($0) }
        if self.recordsInFlight.count < count { self.revision += 1 }
    }

    /// Changes are done, or the app's.
    mutating func settle(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        let (settled, count) = (Set(changes), self.zonesInFlight.count)
        self.zonesInFlight.removeAll { settled.contains($0) }
        if self.zonesInFlight.count < count { self.revision += 1 }
    }

    /// Changes are pending again.
    mutating func putBack(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        let back = Set(changes)
        self.records.putBack(self.recordsInFlight.filter { back.contains($0) })
        self.recordsInFlight.removeAll { back.contains($0) }
    }

    /// Changes are pending again.
    mutating func putBack(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        let back = Set(changes)
        self.zoneChanges.putBack(self.zonesInFlight.filter { back.contains($0) })
        self.zonesInFlight.removeAll { back.contains($0) }
    }

    /// The state as it is kept: what is on its way is pending.
    var kept: SyncState {
        var state = self
        state.putBack(self.recordsInFlight)
        state.putBack(self.zonesInFlight)
        return state
    }
}

/// Whose data.
extension SyncState {
    /// Another user, or nobody: nothing of what was known holds, and nothing that was pending is theirs.
    ///
    /// Only what was added before the very first sign-in is the first user's: there is nobody else whose it could be.
    mutating func change(to user: String?) {
        let isFirst = self.user == nil && !self.hadUser
        if !isFirst {
            let (records, revision) = (self.records, self.revision)
            self = SyncState()
            // Stamps go on, and so do revisions.
            self.records = records
            self.records.removeAll()
            self.revision = revision
            self.hadUser = true
        }
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
        hadUser: Bool,
        databaseToken: CKServerChangeToken?,
        databaseStartsAnew: Bool,
        zones: [CKRecordZone.ID: Progress],
        hasUntrackedChanges: Bool
    ) {
        self.user = user
        self.hadUser = hadUser
        self.databaseToken = databaseToken
        self.databaseStartsAnew = databaseStartsAnew
        self.zones = zones
        self.hasUntrackedChanges = hasUntrackedChanges
    }
}
