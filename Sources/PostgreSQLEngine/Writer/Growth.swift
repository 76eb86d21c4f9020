import RecordModel
import StorageContract

/// The amounts that a transaction adds to the rows of databases and zones, written at the commit.
struct Growth {
    /// The growth of a zone beyond its row, and the position of its last change.
    struct Zone {
        var position: Int64 = 0
        var records: Int64 = 0
        var recordBytes: Int64 = 0
        var rowBytes: Int64 = 0
    }

    var positions: [DatabaseID: Int64] = [:]
    var databases: [DatabaseID: StoredAmount] = [:]
    var zones: [ZoneKey: Zone] = [:]

    var isEmpty: Bool { self.positions.isEmpty && self.databases.isEmpty && self.zones.isEmpty }

    mutating func advance(_ zone: ZoneKey, to position: Int64) {
        let known = self.zones[zone, default: Zone()].position
        self.zones[zone, default: Zone()].position = max(known, position)
    }

    mutating func count(rowBytes: Int, records: Int = 0, bytes: Int = 0, in zone: ZoneKey) {
        self.add(
            Zone(records: Int64(records), recordBytes: Int64(bytes), rowBytes: Int64(rowBytes)),
            to: zone
        )
    }

    mutating func add(_ amount: Zone, to key: ZoneKey) {
        var zone = self.zones[key] ?? Zone()
        zone.position = max(zone.position, amount.position)
        zone.records += amount.records
        zone.recordBytes += amount.recordBytes
        zone.rowBytes += amount.rowBytes
        self.zones[key] = zone
        self.count(
            StoredAmount(
                records: amount.records,
                recordBytes: amount.recordBytes,
                assets: 0,
                assetBytes: 0,
                rowBytes: amount.rowBytes
            ),
            in: key.database
        )
    }

    mutating func count(rowBytes: Int, in database: DatabaseID) {
        var amount = StoredAmount()
        amount.rowBytes = Int64(rowBytes)
        self.count(amount, in: database)
    }

    mutating func count(_ amount: StoredAmount, in database: DatabaseID) {
        self.databases[database, default: StoredAmount()].add(amount)
    }

    /// Updates the rows of databases and zones, without waiting.
    func write(on connection: PostgreSQLConnection) throws(StorageFailure) {
        let databases = self.changedDatabases
        if !databases.isEmpty {
            let amounts = databases.map { self.databases[$0] ?? StoredAmount() }
            let columns: [[Int64]] = [
                databases.map(\.rawValue), databases.map { self.positions[$0] ?? 0 },
                amounts.map(\.records), amounts.map(\.recordBytes), amounts.map(\.assets),
                amounts.map(\.assetBytes), amounts.map(\.rowBytes),
            ]
            try connection.write(CounterSQL.growDatabases, columns.map { .integers($0) })
        }
        let zones = Array(self.zones)
        guard !zones.isEmpty else { return }
        let columns: [[Int64]] = [
            zones.map(\.key.database.rawValue), zones.map(\.key.number), zones.map(\.value.position),
            zones.map(\.value.records), zones.map(\.value.recordBytes), zones.map(\.value.rowBytes),
        ]
        try connection.write(CounterSQL.growZones, columns.map { .integers($0) })
    }

    /// Databases with changed rows, in the order of their numbers.
    var changedDatabases: [DatabaseID] {
        Set(self.positions.keys).union(self.databases.keys).sorted { $0.rawValue < $1.rawValue }
    }
}
