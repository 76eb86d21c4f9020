import StorageContract

/// A check of the rows of one database that belong to no zone's contents, and of its sums.
///
/// Each total of a database is one of its zones, its assets and a few other rows, so it is compared in one
/// snapshot.
struct DatabaseCheck {
    let number: DatabaseID
    let place: StoreFinding.Place
    /// The sums of the checks of its zones: the last change, and the amounts that their rows lack.
    var lastPosition: Int64 = 0
    var counted = StoredAmount()
    private(set) var findings: [StoreFinding] = []

    init(_ number: DatabaseID, at place: StoreFinding.Place) {
        self.number = number
        self.place = place
    }

    mutating func run(in snapshot: any Snapshot) throws(StorageFailure) {
        guard let row = try snapshot.row(DatabaseRow.byKey, self.number) else { return }
        try self.countZones(snapshot)
        try self.countAssets(snapshot)
        try self.countRows(snapshot)
        if row.position < self.lastPosition {
            self.find(
                .databasePosition,
                "\(row.position), and the last change has \(self.lastPosition)",
                repair: .database(self.number, adding: StoredAmount(), position: self.lastPosition)
            )
        }
        var missing = StoredAmount()
        missing.records = self.counted.records &- row.stored.records
        missing.recordBytes = self.counted.recordBytes &- row.stored.recordBytes
        missing.assets = self.counted.assets &- row.stored.assets
        missing.assetBytes = self.counted.assetBytes &- row.stored.assetBytes
        missing.rowBytes = self.counted.rowBytes &- row.stored.rowBytes
        guard missing != StoredAmount() else { return }
        self.find(
            .databaseCounters,
            "\(Self.text(row.stored)), and it has \(Self.text(self.counted))",
            repair: .database(self.number, adding: missing, position: 0)
        )
    }

    private static func text(_ amount: StoredAmount) -> String {
        """
        \(amount.records) records of \(amount.recordBytes) bytes, \(amount.assets) assets of \
        \(amount.assetBytes) bytes, \(amount.rowBytes) bytes of rows
        """
    }

    private mutating func find(
        _ kind: StoreFinding.Kind,
        zone: String? = nil,
        _ detail: String,
        repair: StoreFinding.Repair
    ) {
        var place = self.place
        place.zone = zone
        self.findings.append(StoreFinding(kind, at: place, detail, repair: repair))
    }

    private mutating func countZones(_ snapshot: any Snapshot) throws(StorageFailure) {
        try snapshot.visit(RowRange(ZoneRow.byKey, self.number)) { (zone) throws(StorageFailure) in
            self.lastPosition = max(self.lastPosition, zone.number)
            var amount = StoredAmount()
            amount.records = zone.records
            amount.recordBytes = zone.recordBytes
            amount.rowBytes = zone.rowBytes.adding(clamped: Int64(RowBytes.zone(named: zone.name)))
            self.counted.add(amount)
            if zone.targetDatabase != nil { try self.checkMirror(zone, snapshot) }
        }
    }

    /// A mirror belongs to a reader of a share in the zone.
    private mutating func checkMirror(
        _ mirror: ZoneRow,
        _ snapshot: any Snapshot
    ) throws(StorageFailure) {
        let zone = mirror.contents
        guard try snapshot.row(ViewRefreshRow.byKey, self.number, zone.database, zone.number) == nil else {
            return
        }
        let shares = try snapshot.rows(RowRange(ShareRow.byName, zone.database, zone.number)).map(\.number)
        let keys = shares.map { ShareReaderRow.byKey.key(self.number, $0) }
        let readers = try snapshot.rows(ShareReaderRow.byKey, keys: keys)
        let news = try snapshot.rows(ShareNewsRow.byKey, keys: shares)
        if readers.contains(where: { $0?.permission.mayRead ?? false }) || news.contains(where: { $0 != nil })
        {
            return
        }
        self.find(
            .mirrorStray,
            zone: mirror.name,
            "zone \(zone.number) of database \(zone.database.rawValue)",
            repair: .mirror(reader: self.number, zone: zone)
        )
    }

    private mutating func countAssets(_ snapshot: any Snapshot) throws(StorageFailure) {
        for index in [AssetRow.complete, AssetRow.uploading] {
            try snapshot.visit(RowRange(index, self.number)) { self.counted.add($0.counted) }
        }
    }

    private mutating func countRows(_ snapshot: any Snapshot) throws(StorageFailure) {
        try snapshot.visit(RowRange(ZoneTombstoneRow.byKey, self.number)) { row in
            self.lastPosition = max(self.lastPosition, row.position)
            self.add(RowBytes.zoneTombstone(named: row.name))
        }
        try snapshot.visit(RowRange(RequestRow.byKey, self.number)) { row in
            self.add(RowBytes.outcome(row.outcome.count))
        }
        try snapshot.visit(RowRange(SweepRow.byKey, self.number)) { self.add(Int($0.bytes)) }
        try snapshot.visit(RowRange(SubscriptionRow.byOwner, self.number)) {
            (row) throws(StorageFailure) in
            let cursors = try snapshot.count(RowRange(ListenerCursorRow.byKey, row.number))
            self.add(RowBytes.subscription(row.stored(ownedBy: "")) + RowBytes.cursor * cursors)
        }
    }

    private mutating func add(_ bytes: Int) {
        self.counted.rowBytes = self.counted.rowBytes.adding(clamped: Int64(bytes))
    }
}

/// A check of the rows of assets, a page at a time.
enum AssetRowCheck {
    static let pageMax = 500

    /// - Returns: The findings of a page, and its last number; `nil` if it was the last page.
    static func page(
        after number: AssetNumber,
        _ snapshot: any Snapshot,
        place: (DatabaseID) throws(StorageFailure) -> StoreFinding.Place
    ) throws(StorageFailure) -> (findings: [StoreFinding], next: AssetNumber?) {
        let assets = try snapshot.rows(RowRange(AssetRow.byKey).after(number), limit: self.pageMax)
        var findings: [StoreFinding] = []
        for asset in assets where asset.state == .complete {
            let isNamed = try snapshot.isNamed(asset.number)
            guard (asset.sinceMilliseconds == nil) != isNamed else { continue }
            findings.append(
                StoreFinding(
                    .assetGrace,
                    at: try place(asset.database),
                    "asset \(asset.number.rawValue), which \(isNamed ? "a record names" : "no record names")",
                    repair: .assetGrace(asset.number)
                )
            )
        }
        return (findings, assets.count == self.pageMax ? assets.last?.number : nil)
    }
}
