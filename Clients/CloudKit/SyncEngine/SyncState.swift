/// The state of an engine: its user, how far it has fetched, and its pending changes.
///
/// It is a value that an app stores between launches. The app already knows all that is in it:
/// tokens advance when the changes before them were handled.
struct SyncState: Sendable {
    /// How far the changes of a zone were fetched.
    struct Progress: Hashable, Sendable {
        /// `nil` if nothing was fetched, or if the token has expired.
        var token: CKServerChangeToken?
        /// Whether the server has changes that were not fetched.
        var isBehind = false
        /// Whether the app may have missed deletions, because a token has expired or there was none
        /// when it sent records: everything is then fetched from the beginning, in one go.
        var startsAnew = false
    }

    /// The container, environment and scope of the database; `nil` if it is not known yet.
    private(set) var home: String?
    /// The record name of the user; `nil` if none is signed in.
    private(set) var user: String?
    /// Whether there was a user before `user`, or before the user signed out.
    private(set) var hadUser = false
    /// The position in the changes of the database; `nil` if nothing was fetched, or if the token
    /// has expired.
    private(set) var databaseToken: CKServerChangeToken?
    /// Whether the app may have missed deletions of zones, because the token has expired or there
    /// was none when it made a zone.
    private(set) var databaseStartsAnew = false
    /// The zones of the server, as far as they are known.
    private(set) var zones: [CKRecordZone.ID: Progress] = [:]
    private(set) var records = PendingRecordChanges()
    private(set) var zoneChanges = PendingZoneChanges()
    /// Changes in flight: no longer pending, but pending in the stored state.
    private(set) var recordsInFlight: [CKSyncEngine.PendingRecordZoneChange] = []
    private(set) var zonesInFlight: [CKSyncEngine.PendingDatabaseChange] = []
    private(set) var hasUntrackedChanges = false
    /// Rises with every change of the state.
    private(set) var revision: UInt64 = 0

    init() {}

    /// Whether anything is pending.
    var hasPending: Bool {
        !self.records.isEmpty || !self.zoneChanges.isEmpty || self.hasUntrackedChanges
    }

    /// Zones with changes that were not fetched, by name.
    var zonesBehind: [CKRecordZone.ID] {
        self.zones.filter(\.value.isBehind).keys
            .sorted { ($0.zoneName, $0.ownerName) < ($1.zoneName, $1.ownerName) }
    }
}

/// Pending changes.
extension SyncState {
    mutating func add(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        for change in changes { self.records.add(change) }
        if !changes.isEmpty { self.revision += 1 }
    }

    mutating func add(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        for change in changes { self.zoneChanges.add(change) }
        if !changes.isEmpty { self.revision += 1 }
    }

    /// Removes changes; those in flight do not become pending again if they fail.
    mutating func remove(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        var isChanged = false
        for change in changes where self.records.remove(change) { isChanged = true }
        if isChanged { self.revision += 1 }
        self.settle(changes)
    }

    /// Removes changes; those in flight do not become pending again if they fail.
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

/// Changes in flight.
extension SyncState {
    /// Takes pending changes, to be sent, without those that were added again after a stamp.
    ///
    /// The stored state stays the same, so this is not a revision.
    mutating func take(_ changes: [CKSyncEngine.PendingRecordZoneChange], asOf stamp: UInt64) {
        self.recordsInFlight += changes.filter { self.records.remove($0, asOf: stamp) }
    }

    /// Takes the changes of zones for the next request.
    mutating func takeZones(
        countMax: Int,
        where isWanted: (CKRecordZone.ID) -> Bool
    ) -> [CKSyncEngine.PendingDatabaseChange] {
        let changes = self.zoneChanges.batch(countMax: countMax, where: isWanted)
        for change in changes { self.zoneChanges.remove(change) }
        self.zonesInFlight += changes
        return changes
    }

    /// Removes changes in flight that succeeded, or that are now the app's.
    mutating func settle(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        let (settled, count) = (Set(changes), self.recordsInFlight.count)
        self.recordsInFlight.removeAll { settled.contains($0) }
        if self.recordsInFlight.count < count { self.revision += 1 }
    }

    /// Removes changes in flight that succeeded, or that are now the app's.
    mutating func settle(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        let (settled, count) = (Set(changes), self.zonesInFlight.count)
        self.zonesInFlight.removeAll { settled.contains($0) }
        if self.zonesInFlight.count < count { self.revision += 1 }
    }

    /// Makes changes in flight pending again.
    mutating func putBack(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        let back = Set(changes)
        self.records.putBack(self.recordsInFlight.filter { back.contains($0) })
        self.recordsInFlight.removeAll { back.contains($0) }
    }

    /// Makes changes in flight pending again.
    mutating func putBack(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        let back = Set(changes)
        self.zoneChanges.putBack(self.zonesInFlight.filter { back.contains($0) })
        self.zonesInFlight.removeAll { back.contains($0) }
    }

    /// The state to be stored: changes in flight are pending in it.
    var kept: SyncState {
        var state = self
        state.putBack(self.recordsInFlight)
        state.putBack(self.zonesInFlight)
        return state
    }
}

/// The user.
extension SyncState {
    /// Whether the state is of another database than this one.
    func isForeign(to home: String?) -> Bool {
        guard let own = self.home, let home else { return false }
        return own != home
    }

    /// Notes the database of the state.
    mutating func adopt(_ home: String?) {
        guard let home, self.home != home else { return }
        self.home = home
        self.revision += 1
    }

    /// Changes the user: the former state is void, and the pending changes are not the new user's.
    ///
    /// Only changes that were added before the very first sign-in are kept: they can belong to no
    /// other user.
    mutating func change(to user: String?, in home: String? = nil) {
        let isFirst = self.user == nil && !self.hadUser && !self.isForeign(to: home)
        if !isFirst {
            let (records, revision) = (self.records, self.revision)
            self = SyncState()
            // Stamps and revisions continue.
            self.records = records
            self.records.removeAll()
            self.revision = revision
            self.hadUser = true
        }
        self.user = user
        self.revision += 1
    }
}

/// The progress of fetches.
extension SyncState {
    /// Notes zones, and zones with records, that the app now shares with the server.
    ///
    /// A first fetch starts without a token, so no server reports what was deleted before it: these
    /// zones start again.
    mutating func noteKnown(_ zones: Set<CKRecordZone.ID>, recordsIn zonesWithRecords: Set<CKRecordZone.ID>) {
        for zone in zones.union(zonesWithRecords) where zone != .default {
            var progress = self.zones[zone] ?? Progress()
            if progress.token == nil, zonesWithRecords.contains(zone) { progress.startsAnew = true }
            guard self.zones[zone] != progress else { continue }
            self.zones[zone] = progress
            if self.databaseToken == nil { self.databaseStartsAnew = true }
            self.revision += 1
        }
    }

    /// Notes that the delegate has handled a page of the database's changes.
    ///
    /// - Parameters:
    ///   - changed: Zones with changes.
    ///   - deleted: Zones that were deleted.
    ///   - token: The position of the next page; `nil` between pages that are valid only together.
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

    /// Notes that the server no longer knows the changes of zones since the token.
    mutating func databaseTokenExpired() {
        self.databaseToken = nil
        self.databaseStartsAnew = true
        self.revision += 1
    }

    /// Notes that the delegate has handled a page of a zone's changes.
    ///
    /// - Parameters:
    ///   - zone: The zone.
    ///   - token: The position of the next page.
    ///   - isLast: Whether there are no more changes.
    mutating func zonePage(_ zone: CKRecordZone.ID, token: CKServerChangeToken, isLast: Bool) {
        guard var progress = self.zones[zone] else { return }
        // A zone that starts again is complete or not fetched at all: records that did not come
        // were deleted.
        if !progress.startsAnew || isLast { progress.token = token }
        if isLast {
            progress.isBehind = false
            progress.startsAnew = false
        }
        self.zones[zone] = progress
        self.revision += 1
    }

    /// Notes that the server no longer knows the changes of the zone since the token.
    mutating func zoneTokenExpired(_ zone: CKRecordZone.ID) {
        self.zones[zone] = Progress(token: nil, isBehind: true, startsAnew: true)
        self.revision += 1
    }

    /// Notes that the zone is missing; the database's changes will show whether it was deleted or
    /// created again.
    mutating func zoneMissing(_ zone: CKRecordZone.ID) {
        guard let progress = self.zones[zone] else { return }
        let hadRecords = progress.token != nil || progress.startsAnew
        self.zones[zone] = Progress(token: nil, isBehind: false, startsAnew: hadRecords)
        self.revision += 1
    }
}

/// The stored form.
extension SyncState {
    init(
        home: String?,
        user: String?,
        hadUser: Bool,
        databaseToken: CKServerChangeToken?,
        databaseStartsAnew: Bool,
        zones: [CKRecordZone.ID: Progress],
        hasUntrackedChanges: Bool
    ) {
        self.home = home
        self.user = user
        self.hadUser = hadUser
        self.databaseToken = databaseToken
        self.databaseStartsAnew = databaseStartsAnew
        self.zones = zones
        self.hasUntrackedChanges = hasUntrackedChanges
    }
}
