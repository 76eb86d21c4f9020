import RecordModel
import StorageContract

/// One short transaction of a deletion: the first piece of work that it finds.
///
/// Zones go as a client deletes them, so that participants of shares are notified and the sweep
/// takes the contents. Rows of users, databases and containers stay, without a name: their numbers
/// are in the memory of readers, and are never used again.
struct DeletionSteps {
    let transaction: any WriteTransaction

    /// Zones, each with its shares, that one transaction deletes; and rows of other tables.
    private static let zonesMax = 20
    private static let rowsMax = 500
    private static let newsMax = 100

    // MARK: Users

    /// `leavesShares` says whether the owners of the joined shares remain.
    func deleteSome(of user: UserRow, leavesShares: Bool) throws(StorageFailure) -> DeletionProgress {
        let environments = try self.environments(ofContainer: user.container)
        let databases = try self.databases(of: user.number, in: environments)
        for own in databases where own.scope == .shared {
            let name = leavesShares ? user.recordName : nil
            guard try !self.leaveSome(in: own, name) else { return .more }
        }
        for own in databases {
            guard try !self.deleteSomeZones(of: own) else { return .more }
        }
        guard try !MirrorOutbox(self.transaction).apply(max: Self.newsMax) else { return .more }
        for own in databases {
            let progress = try self.clearSome(of: own)
            guard progress == .done else { return progress }
        }
        let seen = RowRange(InstallationSeenRow.byUser, user.recordName)
        guard try self.transaction.delete(seen, limit: Self.rowsMax) == 0 else { return .more }
        for environment in environments { try self.forget(user.recordName, in: environment) }
        try self.forget(user)
        return .done
    }

    /// Leaves shares that a user has joined; `user` is `nil` if no user is left to see it.
    private func leaveSome(in shared: DatabaseRow, _ user: String?) throws(StorageFailure) -> Bool {
        let views = try self.transaction.rows(
            RowRange(ZoneRow.byTarget, shared.number),
            limit: Self.zonesMax
        )
        for view in views {
            if let user, let database = view.targetDatabase, let number = view.targetZone {
                try UserRemoval(
                    transaction: self.transaction,
                    environment: shared.environment,
                    userRecordName: user
                ).leave(
                    ZoneKey(database: database, number: number),
                    named: SharedZoneName.zone(view.name).zoneName,
                    joinedBy: shared.number
                )
            }
            try self.delete(view)
        }
        return !views.isEmpty
    }

    /// Removes the rows about a user from databases of other users.
    private func forget(_ recordName: String, in environment: EnvironmentID) throws(StorageFailure) {
        guard let open = try self.publicDatabase(of: environment) else { return }
        try UserRemoval(
            transaction: self.transaction,
            environment: environment,
            userRecordName: recordName
        ).deleteUserRecord(in: open.number)
        if let author = try self.transaction.row(AuthorRow.byRecordName, recordName) {
            let subscriptions = RowRange(SubscriptionRow.byOwner, open.number, author.number)
            for row in try self.transaction.rows(subscriptions) {
                try self.transaction.delete(row.stored(ownedBy: recordName))
            }
        }
    }

    private func forget(_ user: UserRow) throws(StorageFailure) {
        try self.transaction.forgetSender(user.recordName)
        try self.transaction.delete(RowRange(UserContactRow.byUser, user.number))
        try self.transaction.delete(RowRange(UserRoleRow.byKey, user.number))
        for key in try self.transaction.rows(RowRange(ServiceKeyRow.byID, user.container)) {
            try self.transaction.delete(ServiceKeyUserRow(key: key.number, user: user.number))
            guard key.service == user.number else { continue }
            try self.transaction.delete(RowRange(ServiceKeyUserRow.byKey, key.number))
            try self.transaction.delete(key)
        }
        var nobody = UserRow(
            container: user.container,
            name: "_deleted-\(user.number.rawValue)",
            recordName: "-\(user.number.rawValue)",
            createdMilliseconds: 0,
            kind: .deleted
        )
        nobody.number = user.number
        nobody.isRevoked = true
        nobody.credentialVersion = try DirectoryLookup(rows: self.transaction).credentialVersion() + 1
        try self.transaction.put(nobody)
    }

    // MARK: Containers

    func deleteSome(ofContainer number: Int64) throws(StorageFailure) -> DeletionProgress {
        if let user = try self.someUser(ofContainer: number) {
            let progress = try self.deleteSome(of: user, leavesShares: false)
            return progress == .done ? .more : progress
        }
        let environments = try self.environments(ofContainer: number)
        for environment in environments {
            guard let open = try self.publicDatabase(of: environment) else { continue }
            guard try !self.deleteSomeZones(of: open) else { return .more }
            let progress = try self.clearSome(of: open)
            guard progress == .done else { return progress }
        }
        for environment in environments {
            try SchemaWriting(environment: environment, rows: self.transaction).removeAll()
        }
        guard var container = try self.transaction.row(ContainerRow.byKey, number) else { return .done }
        container.identifier = "-\(number)"
        container.createdMilliseconds = 0
        container.historyDays = nil
        try self.transaction.put(container)
        return .done
    }

    /// A user of a container who is not deleted yet.
    private func someUser(ofContainer number: Int64) throws(StorageFailure) -> UserRow? {
        let range = RowRange(UserRow.byName, number)
        // The names of deleted users lie close together, so most often an end has another user.
        for end in [range, range.descending] {
            let user = try self.transaction.rows(end, limit: 1).first
            if let user, user.kind != .deleted { return user }
        }
        var found: UserRow?
        try self.transaction.visit(range) { (user) throws(StorageFailure) in
            if user.kind != .deleted { found = found ?? user }
        }
        return found
    }

    // MARK: Databases

    private func environments(ofContainer number: Int64) throws(StorageFailure) -> [EnvironmentID] {
        try DirectoryLookup(rows: self.transaction).environments(ofContainer: number).map(\.number)
    }

    /// The private and the shared databases of a user.
    private func databases(
        of user: UserNumber,
        in environments: [EnvironmentID]
    ) throws(StorageFailure) -> [DatabaseRow] {
        var databases: [DatabaseRow] = []
        for environment in environments {
            for scope in [DatabaseScope.private, .shared] {
                let own = try self.transaction.row(DatabaseRow.byOwner, environment, scope, user)
                if let own { databases.append(own) }
            }
        }
        return databases
    }

    private func publicDatabase(of environment: EnvironmentID) throws(StorageFailure) -> DatabaseRow? {
        try self.transaction.row(
            DatabaseRow.byOwner,
            environment,
            DatabaseScope.public,
            DatabaseRow.nobody
        )
    }

    private func deleteSomeZones(of own: DatabaseRow) throws(StorageFailure) -> Bool {
        let zones = try self.transaction.rows(RowRange(ZoneRow.byKey, own.number), limit: Self.zonesMax)
        if own.scope == .private {
            let sharesMax = Bounds.defaults.sharesTurnMax
            if try self.transaction.endSomeShares(of: zones.map(\.key), max: sharesMax) { return true }
        }
        for zone in zones { try self.delete(zone) }
        return !zones.isEmpty
    }

    private func delete(_ zone: ZoneRow) throws(StorageFailure) {
        try self.transaction.removeZone(
            zone.key,
            named: zone.name,
            at: self.transaction.takePosition(in: zone.database)
        )
    }

    /// Removes what belongs to no zone, once the contents of zones are swept.
    private func clearSome(of own: DatabaseRow) throws(StorageFailure) -> DeletionProgress {
        let database = own.number
        guard try self.transaction.count(RowRange(SweepRow.byKey, database), limit: 1) == 0 else {
            return .sweeping
        }
        for assets in [AssetRow.complete, AssetRow.uploading] {
            guard try !self.dropSomeAssets(RowRange(assets, database)) else { return .more }
        }
        let tombstones = RowRange(ZoneTombstoneRow.byKey, database)
        guard try self.transaction.delete(tombstones, limit: Self.rowsMax) == 0,
            try self.transaction.delete(RowRange(RequestRow.byKey, database), limit: Self.rowsMax) == 0
        else { return .more }
        let subscriptions = try self.transaction.rows(
            RowRange(SubscriptionRow.byOwner, database),
            limit: Self.rowsMax
        )
        for row in subscriptions { try self.transaction.delete(row.stored(ownedBy: "")) }
        // The commit subtracts their bytes from the counters, so the counters are set after it.
        guard subscriptions.isEmpty else { return .more }
        try self.transaction.delete(RowRange(ShareReaderRow.byKey, database))
        try self.transaction.delete(RowRange(ViewRefreshRow.byKey, database))
        guard own.stored != StoredAmount() || own.tombstonesGoneThrough != own.position else {
            return .done
        }
        var cleared = own
        cleared.stored = StoredAmount()
        cleared.tombstonesGoneThrough = own.position
        try self.transaction.put(cleared)
        return .done
    }

    /// Leaves the files of assets to the server's sweep.
    private func dropSomeAssets(_ range: RowRange<AssetRow>) throws(StorageFailure) -> Bool {
        let assets = try self.transaction.rows(range, limit: Self.rowsMax)
        for asset in assets { try self.transaction.setGoing(asset) }
        return !assets.isEmpty
    }
}
