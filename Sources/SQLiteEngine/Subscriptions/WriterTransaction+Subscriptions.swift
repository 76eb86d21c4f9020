import GRDBSQLite
import RecordModel
import RecordStore

extension WriterTransaction {
    func subscription(
        _ id: String,
        of owner: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> StoredSubscription? {
        let statement = self.statements.subscriptions.find
        statement.bind(1, database.rawValue)
        statement.bind(2, try self.authorNumber(owner))
        statement.bind(3, id)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return statement.subscription(of: owner, in: database)
    }

    func subscriptionID(
        defined definition: [UInt8],
        of owner: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> String? {
        let statement = self.statements.subscriptions.duplicate
        statement.bind(1, database.rawValue)
        statement.bind(2, try self.authorNumber(owner))
        statement.bind(3, definition)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return statement.text(0)
    }

    func countOfSubscriptions(of owner: String, in database: DatabaseID) throws(StorageFailure) -> Int {
        let statement = self.statements.subscriptions.count
        statement.bind(1, database.rawValue)
        statement.bind(2, try self.authorNumber(owner))
        _ = try statement.step()
        defer { statement.reset() }
        return Int(statement.integer(0))
    }

    func save(
        _ subscription: StoredSubscription,
        replacing existing: StoredSubscription?
    ) throws(StorageFailure) {
        let isNew = existing == nil
        self.changes.count(
            rowBytes: RowBytes.subscription(subscription) - (existing.map { RowBytes.subscription($0) } ?? 0),
            in: subscription.key.database
        )
        let statements = self.statements.subscriptions
        let statement = isNew ? statements.insert : statements.update
        if isNew {
            statement.bind(1, subscription.key.database.rawValue)
            statement.bind(2, try self.authorNumber(subscription.key.owner))
            statement.bind(3, subscription.key.id)
        } else {
            statement.bind(6, subscription.number)
            // Another definition: nobody has acknowledged anything of it.
            if subscription.createdPosition == subscription.key.position {
                try self.deleteCursors(of: subscription)
            }
        }
        let first: Int32 = isNew ? 4 : 1
        statement.bind(first, subscription.key.position)
        statement.bind(first + 1, subscription.createdPosition)
        statement.bind(first + 2, subscription.zone?.number)
        statement.bind(first + 3, subscription.info)
        try statement.run(bytes: subscription.definition, at: first + 4)
    }

    func delete(_ subscription: StoredSubscription) throws(StorageFailure) {
        try self.deleteCursors(of: subscription)
        self.statements.subscriptions.delete.bind(1, subscription.number)
        try self.statements.subscriptions.delete.run()
        self.changes.count(
            rowBytes: -RowBytes.subscription(subscription),
            in: subscription.key.database
        )
    }

    private func deleteCursors(of subscription: StoredSubscription) throws(StorageFailure) {
        let statement = self.statements.subscriptions.deleteCursors
        statement.bind(1, subscription.number)
        try statement.run()
        let count = statement.changesCount
        if count > 0 { self.changes.count(rowBytes: -count * RowBytes.cursor, in: subscription.key.database) }
    }

    /// Deletes what goes with a zone: a row each, as its subscribers are told of each.
    func deleteSubscriptions(of zone: ZoneKey, at position: Int64) throws(StorageFailure) {
        let statement = self.statements.subscriptions.ofZone
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        var going: [(owner: Int64, subscription: StoredSubscription)] = []
        while try statement.step() {
            let owner = statement.integer(SubscriptionColumns.count)
            going.append((owner, statement.subscription(of: "", in: zone.database)))
        }
        for (owner, subscription) in going {
            try self.delete(subscription)
            guard self.isWatched(zone.database) else { continue }
            var key = subscription.key
            key.owner = try self.authorName(owner)
            self.note(.subscriptionDeleted(key), at: position, in: zone.database)
        }
    }

    /// Deletes those that have fired and are what they were then.
    func expire(_ subscriptions: Set<SubscriptionKey>) throws(StorageFailure) {
        for key in subscriptions {
            guard let stored = try self.subscription(key.id, of: key.owner, in: key.database),
                stored.key == key
            else { continue }
            try self.drop(stored)
        }
    }

    // MARK: Listeners

    func isWatched(_ database: DatabaseID) -> Bool { self.report.watched[database] != nil }

    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID) {
        self.report.note(kind, at: position, in: database)
    }

    /// Notes what another process has changed in watched databases since the last commit of ours: that there is something.
    func noteChangesOfOthers() throws(StorageFailure) {
        for database in self.report.watched.keys {
            let position = try self.position(of: database)
            guard let known = self.watchedPositions[database], position > known else { continue }
            self.report.noteMore(in: database, upTo: position)
        }
    }

    /// The subscriptions that a listener has, in both databases, and which of them have news for it.
    func subscriptions(of listener: ListenerIdentity) throws(StorageFailure) -> [WatchedSubscription] {
        guard let owner = listener.signIn.userRecordName else { return [] }
        let waiting = self.watch.cursors.waiting(for: listener.installation)
        var watched: [WatchedSubscription] = []
        for database in listener.databases {
            let latest = LatestChange(
                position: try self.position(of: database),
                inAnyZone: try self.latestChange(in: database, exceptZone: ""),
                inCustomZones: try self.latestChange(in: database, exceptZone: ZoneID.defaultZoneName)
            )
            if self.watchedPositions.count > 2 * self.report.watched.count + 1_000 {
                self.watchedPositions = self.watchedPositions.filter { self.isWatched($0.key) }
            }
            self.watchedPositions[database] = latest.position
            let statement = self.statements.subscriptions.ofListener
            statement.bind(1, database.rawValue)
            statement.bind(2, try self.authorNumber(owner))
            statement.bind(3, listener.installation)
            defer { statement.reset() }
            while try statement.step() {
                let stored = statement.subscription(of: owner, in: database)
                let cursor = SubscriptionColumns.count
                // One that was restored counts from before the first position: it has news wherever nothing is, too.
                var known = stored.createdPosition
                if !statement.isNull(cursor) { known = max(known, statement.integer(cursor)) }
                if !waiting.isEmpty, let unwritten = waiting[stored.cursorKey(of: listener)],
                    unwritten.savedPosition >= stored.createdPosition
                {
                    known = max(known, unwritten.position)
                }
                let subscription = try stored.subscription()
                watched.append(
                    WatchedSubscription(
                        key: stored.key,
                        subscription: subscription,
                        hasNews: latest.position(
                            for: subscription,
                            inItsZone: statement.integer(cursor + 1)
                        ) > known,
                        position: latest.position
                    )
                )
            }
        }
        return watched
    }

    /// The position of the last change in any zone but one, deleted zones included.
    private func latestChange(
        in database: DatabaseID,
        exceptZone zone: String
    ) throws(StorageFailure) -> Int64 {
        let statement = self.statements.subscriptions.latest
        statement.bind(1, database.rawValue)
        statement.bind(2, zone)
        _ = try statement.step()
        defer { statement.reset() }
        return statement.integer(0)
    }

    /// Writes down some of what listeners have acknowledged; of subscriptions that are gone nothing.
    func writeCursors(max count: Int) throws(StorageFailure) {
        let statements = self.statements.subscriptions
        for (key, cursor) in self.watch.cursors.take(max: count, nowMilliseconds: self.nowMilliseconds) {
            guard try self.run(statements.moveCursor, key, cursor) == 0,
                try self.run(statements.insertCursor, key, cursor) > 0
            else { continue }
            self.changes.count(rowBytes: RowBytes.cursor, in: key.database)
        }
    }

    /// Returns how many rows it changed.
    private func run(
        _ statement: HotStatement,
        _ key: ListenerCursors.Key,
        _ cursor: ListenerCursors.Cursor
    ) throws(StorageFailure) -> Int {
        statement.bind(1, key.database.rawValue)
        statement.bind(2, try self.authorNumber(key.owner))
        statement.bind(3, key.subscription)
        statement.bind(5, cursor.savedPosition)
        statement.bind(6, cursor.position)
        try statement.run(bytes: key.installation, at: 4)
        return statement.changesCount
    }
}

/// The last changes in a database.
private struct LatestChange {
    /// Of the database, those of subscriptions included.
    let position: Int64
    let inAnyZone: Int64
    let inCustomZones: Int64

    func position(for subscription: Subscription, inItsZone: Int64) -> Int64 {
        guard subscription.zone == nil else { return inItsZone }
        return switch subscription.kind {
        case .query: self.inAnyZone
        case .database, .zone: self.inCustomZones
        }
    }
}

extension StoredSubscription {
    fileprivate func cursorKey(of listener: ListenerIdentity) -> ListenerCursors.Key {
        ListenerCursors.Key(
            installation: listener.installation,
            database: self.key.database,
            owner: self.key.owner,
            subscription: self.key.id
        )
    }
}
