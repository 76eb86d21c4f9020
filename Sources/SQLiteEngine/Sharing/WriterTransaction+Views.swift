import RecordModel
import RecordStore

/// Shared databases: a row for each zone of somebody else of which the user has joined a share.
extension WriterTransaction {
    func hasPendingViews(of reader: DatabaseID) throws(StorageFailure) -> Bool {
        let statement = self.statements.views.refreshOfReader
        statement.bind(1, reader.rawValue)
        statement.bind(2, 1)
        defer { statement.reset() }
        return try statement.step()
    }

    func applyPendingViews(of reader: DatabaseID) throws(StorageFailure) {
        let statement = self.statements.views.refreshOfReader
        statement.bind(1, reader.rawValue)
        statement.bind(2, -1)
        try self.apply(try self.pendingViews(statement))
    }

    /// An entry of the outbox.
    private struct PendingView {
        let reader: DatabaseID
        let zone: ZoneKey
        let origin: ChangeOrigin?
    }

    private func pendingViews(_ statement: HotStatement) throws(StorageFailure) -> [PendingView] {
        var pending: [PendingView] = []
        while try statement.step() {
            let zone = ZoneKey(
                database: DatabaseID(rawValue: statement.integer(1)),
                number: statement.integer(2)
            )
            pending.append(
                PendingView(
                    reader: DatabaseID(rawValue: statement.integer(0)),
                    zone: zone,
                    origin: statement.isNull(3) ? nil : ChangeOrigin(statement.bytes(3))
                )
            )
        }
        return pending
    }

    private func apply(_ pending: [PendingView]) throws(StorageFailure) {
        let origin = self.report.origin
        let statement = self.statements.views.deleteRefresh
        for entry in pending {
            self.report.origin = entry.origin
            try self.touchView(of: entry.zone, for: entry.reader)
            statement.bind(1, entry.reader.rawValue)
            statement.bind(2, entry.zone.database.rawValue)
            statement.bind(3, entry.zone.number)
            try statement.run()
        }
        self.report.origin = origin
    }

    /// Brings a row up to date: something has changed in the zone, or in what the reader may.
    private func touchView(of zone: ZoneKey, for reader: DatabaseID) throws(StorageFailure) {
        let access = try self.sharedAccess(to: zone, of: reader)
        let view = try self.view(of: zone, for: reader)
        guard !access.isEmpty else {
            guard let view else { return }
            let position = try self.takePosition(in: reader)
            try self.deleteZone(view.key, named: view.name, at: position)
            return
        }
        let position = try self.takePosition(in: reader)
        if let view {
            let statement = self.statements.views.touchView
            statement.bind(1, reader.rawValue)
            statement.bind(2, view.name)
            statement.bind(3, position)
            try statement.run()
            self.note(.zoneChanged(view.name), at: position, in: reader)
        } else {
            try self.insertView(of: zone, for: reader, at: position)
        }
    }

    private func insertView(
        of zone: ZoneKey,
        for reader: DatabaseID,
        at position: Int64
    ) throws(StorageFailure) {
        let statements = self.statements.shares
        let places = SharePlaces(
            place: statements.place,
            shareOfRoot: statements.shareOfRoot,
            ownerZone: statements.ownerZone
        )
        guard let owner = try places.owner(of: zone) else { return }
        let name = SharedZoneName.text(of: ZoneID(zoneName: owner.zone, ownerName: owner.user))
        let statement = self.statements.views.insertView
        statement.bind(1, reader.rawValue)
        statement.bind(2, name)
        statement.bind(3, position)
        statement.bind(4, zone.database.rawValue)
        statement.bind(5, zone.number)
        try statement.run()
        self.changes.count(rowBytes: RowBytes.zone(named: name), in: reader)
        self.caches.zones[WriterCaches.Name(owner: reader.rawValue, name: name)] = nil
        self.note(.zoneCreated(name), at: position, in: reader)
    }

    private func view(of zone: ZoneKey, for reader: DatabaseID) throws(StorageFailure) -> NamedZone? {
        let statement = self.statements.views.view
        statement.bind(1, reader.rawValue)
        statement.bind(2, zone.database.rawValue)
        statement.bind(3, zone.number)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        let key = ZoneKey(database: reader, number: statement.integer(1))
        return NamedZone(name: statement.text(0), key: key)
    }

    /// Tells the databases of some readers what is new in the shares that they have joined.
    ///
    /// Returns whether there may be more to tell.
    func spreadNews(max: Int) throws(StorageFailure) -> Bool {
        let refreshed = try self.refreshSome(max: max)
        let views = self.statements.views
        views.news.bind(1, Int64(max))
        var news: [(share: ShareNumber, origin: ChangeOrigin?, zone: ZoneKey)] = []
        while try views.news.step() {
            let zone = ZoneKey(
                database: DatabaseID(rawValue: views.news.integer(2)),
                number: views.news.integer(3)
            )
            let origin = views.news.isNull(1) ? nil : ChangeOrigin(views.news.bytes(1))
            news.append((ShareNumber(rawValue: views.news.integer(0)), origin, zone))
        }
        for entry in news {
            self.report.origin = entry.origin
            for reader in try self.readers(of: entry.share) {
                try self.touchView(of: entry.zone, for: reader)
            }
            views.deleteNews.bind(1, entry.share.rawValue)
            try views.deleteNews.run()
            self.caches.sharesWithNews[entry.share] = nil
        }
        self.report.origin = nil
        let mayBeMore = refreshed == max || news.count == max
        if !mayBeMore { self.viewsWereTold() }
        return mayBeMore
    }

    private func refreshSome(max: Int) throws(StorageFailure) -> Int {
        let statement = self.statements.views.refresh
        statement.bind(1, Int64(max))
        let pending = try self.pendingViews(statement)
        try self.apply(pending)
        return pending.count
    }

    private func readers(of share: ShareNumber) throws(StorageFailure) -> [DatabaseID] {
        let statement = self.statements.shares.readers
        statement.bind(1, share.rawValue)
        var readers: [DatabaseID] = []
        while try statement.step() { readers.append(DatabaseID(rawValue: statement.integer(0))) }
        return readers
    }
}
