import RecordModel
import StorageContract

/// The start of a listener: its subscriptions, and which of them have news.
///
/// A subscription has news if the zone or database that it watches has a later position than its
/// cursor, or than `createdPosition` without one.
struct ListenerStart {
    let transaction: any ChangeTransaction
    /// Acknowledgements of the installation that no row has yet.
    let unwritten: [ListenerCursors.Key: ListenerCursors.Cursor]

    /// How things stand for a listener in all its databases; subscriptions by database and ID.
    func start(of listener: ListenerIdentity) throws(StorageFailure) -> ListeningStart {
        var start = ListeningStart(subscriptions: [], positions: [:])
        guard let owner = listener.signIn.userRecordName else { return start }
        for database in listener.databases {
            // Asked of each database: from here on it is known what others change there.
            let position = try self.transaction.position(of: database)
            start.positions[database] = position
            start.subscriptions += try self.subscriptions(
                of: owner,
                in: database,
                at: position,
                installation: listener.installation
            )
        }
        return start
    }

    private func subscriptions(
        of owner: String,
        in database: DatabaseID,
        at position: Int64,
        installation: [UInt8]
    ) throws(StorageFailure) -> [WatchedSubscription] {
        let subscriptions = try self.transaction.subscriptions(of: owner, in: database)
        guard !subscriptions.isEmpty else { return [] }
        let latest = LatestChanges(
            inAnyZone: try self.lastChange(in: database, exceptZone: ""),
            inCustomZones: try self.lastChange(in: database, exceptZone: ZoneID.defaultZoneName)
        )
        let zones = try self.positions(ofZonesOf: subscriptions)
        let cursors = try self.transaction.rows(
            ListenerCursorRow.byKey,
            keys: subscriptions.map { ListenerCursorRow.byKey.key($0.number, installation) }
        )
        var watched: [WatchedSubscription] = []
        watched.reserveCapacity(subscriptions.count)
        for (stored, cursor) in zip(subscriptions, cursors) {
            // One that was restored counts from before the first position: it has news wherever
            // nothing is, too.
            var known = stored.createdPosition
            if let cursor { known = max(known, cursor.position) }
            if let cursor = self.unwritten[stored.cursorKey(of: installation)],
                cursor.savedPosition >= stored.createdPosition
            {
                known = max(known, cursor.position)
            }
            let subscription = try stored.subscription()
            let last = stored.zone.map { zones[$0.number] ?? 0 } ?? latest.position(for: subscription)
            watched.append(
                WatchedSubscription(
                    key: stored.key,
                    subscription: subscription,
                    hasChanges: last > known,
                    position: position
                )
            )
        }
        return watched
    }

    /// The last changes in the zones that subscriptions are bound to, by number of the zone.
    private func positions(
        ofZonesOf subscriptions: [StoredSubscription]
    ) throws(StorageFailure) -> [Int64: Int64] {
        let keys = Set(subscriptions.compactMap(\.zone)).map {
            ZoneRow.byNumber.key($0.database, $0.number)
        }
        var positions: [Int64: Int64] = [:]
        for row in try self.transaction.rows(ZoneRow.byNumber, keys: keys) {
            if let row { positions[row.number] = row.position }
        }
        return positions
    }

    /// The position of the last change in any zone but one, deleted zones included.
    private func lastChange(
        in database: DatabaseID,
        exceptZone name: String
    ) throws(StorageFailure) -> Int64 {
        let present = try self.transaction.lastChange(inZonesOf: database, exceptNamed: name)
        return max(present, try self.lastDeletion(in: database, exceptZone: name))
    }

    private func lastDeletion(
        in database: DatabaseID,
        exceptZone name: String
    ) throws(StorageFailure) -> Int64 {
        var range = RowRange(ZoneTombstoneRow.byKey, database).descending
        while true {
            let rows = try self.transaction.rows(range, limit: Self.tombstonesMax)
            if let found = rows.first(where: { $0.name != name }) { return found.position }
            guard rows.count == Self.tombstonesMax, let last = rows.last else { return 0 }
            range = range.after(last.position)
        }
    }

    /// Maximum number of tombstones that are read together: most often the first decides.
    private static let tombstonesMax = 4
}

/// The last changes in a database, those of subscriptions left out.
private struct LatestChanges {
    let inAnyZone: Int64
    let inCustomZones: Int64

    /// The position of changes that a subscription watches and that belong to no zone.
    func position(for subscription: Subscription) -> Int64 {
        switch subscription.kind {
        case .query: self.inAnyZone
        case .database, .zone: self.inCustomZones
        }
    }
}

extension StoredSubscription {
    fileprivate func cursorKey(of installation: [UInt8]) -> ListenerCursors.Key {
        ListenerCursors.Key(
            installation: installation,
            database: self.key.database,
            owner: self.key.owner,
            subscription: self.key.id
        )
    }
}
