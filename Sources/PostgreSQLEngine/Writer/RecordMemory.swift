import RecordModel
import StorageContract

/// Cached records that this server has saved, as of its last commit in their databases.
///
/// Every change of a database has a position of its own. A transaction that has locked a database's
/// row, and finds the position of this server's last commit, knows that no other server has written
/// since. Records of such a database are not read again.
///
///     locked ── another position ──▶ forgotten, remembered from the next commit on that finds its own
///       └────── its own position ──▶ used, and the records of this commit are remembered
///
/// Records of databases that several servers write alternately are not cached. Otherwise a job
/// would look for them in vain, and take one more round trip. The cache has two generations. A
/// record that is saved moves into the newer one. Once that has half of the bytes, the older one is
/// dropped.
///
/// Used by the writer's thread.
final class RecordMemory {
    private struct Database {
        var position: Int64
        var zones: [Int64: [ExactName: StoredRecord]] = [:]
    }

    /// Records of a zone by name.
    struct Zone {
        fileprivate let newer: [ExactName: StoredRecord]
        fileprivate let older: [ExactName: StoredRecord]

        func record(named name: String) -> StoredRecord? {
            self.newer[ExactName(name)] ?? self.older[ExactName(name)]
        }
    }

    /// The bound of a writer.
    static let bytesMax = 128 * 1_024 * 1_024

    private let bytesMax: Int
    private var newer: [DatabaseID: Database] = [:]
    private var older: [DatabaseID: Database] = [:]
    private var newerBytes = 0
    /// Databases that the transaction has locked, and that no other server has changed.
    private var unchanged: Set<DatabaseID> = []

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    // MARK: A transaction

    func begin() { self.unchanged = [] }

    /// Notes the position of a database after its row was locked.
    func note(position: Int64, of database: DatabaseID) {
        guard let known = self.newer[database]?.position ?? self.older[database]?.position else { return }
        if known == position {
            self.unchanged.insert(database)
        } else {
            self.forget(database)
        }
    }

    /// Whether the transaction has locked a database, and no other server has changed it.
    func isUnchanged(_ database: DatabaseID) -> Bool { self.unchanged.contains(database) }

    /// Cached records of a zone, valid if its database is unchanged; `nil` if there are none.
    func known(_ zone: ZoneKey) -> Zone? {
        let newer = self.newer[zone.database]?.zones[zone.number]
        let older = self.older[zone.database]?.zones[zone.number]
        guard newer != nil || older != nil else { return nil }
        return Zone(newer: newer ?? [:], older: older ?? [:])
    }

    /// Notes a commit: the last positions of databases, and the saved or deleted records; the last
    /// entry of a name counts.
    func commit(
        _ positions: [DatabaseID: Int64],
        _ written: [ZoneKey: [(name: String, record: StoredRecord?)]]
    ) {
        for (database, position) in positions {
            if !self.unchanged.contains(database) { self.forget(database) }
            self.older[database]?.position = position
            if self.newer[database] == nil { self.newerBytes += Self.databaseBytes }
            self.newer[database, default: Database(position: position)].position = position
        }
        for (zone, records) in written where self.unchanged.contains(zone.database) {
            self.keep(records, of: zone)
        }
        guard self.newerBytes > self.bytesMax / 2 else { return }
        self.older = self.newer
        self.newer = [:]
        self.newerBytes = 0
    }

    private func keep(_ records: [(name: String, record: StoredRecord?)], of zone: ZoneKey) {
        guard var database = self.newer.removeValue(forKey: zone.database) else { return }
        var known = database.zones.removeValue(forKey: zone.number) ?? [:]
        if known.isEmpty { self.newerBytes += Self.zoneBytes }
        for (name, record) in records {
            let before: StoredRecord?
            if let record {
                before = known.updateValue(record, forKey: ExactName(name))
                self.newerBytes += Self.bytes(of: record, named: name)
            } else {
                before = known.removeValue(forKey: ExactName(name))
                self.older[zone.database]?.zones[zone.number]?[ExactName(name)] = nil
            }
            if let before { self.newerBytes -= Self.bytes(of: before, named: name) }
        }
        if known.isEmpty {
            self.newerBytes -= Self.zoneBytes
        } else {
            database.zones[zone.number] = known
        }
        self.newer[zone.database] = database
    }

    private func forget(_ database: DatabaseID) {
        self.older[database] = nil
        guard let known = self.newer.removeValue(forKey: database) else { return }
        self.newerBytes -= Self.databaseBytes
        for (_, records) in known.zones {
            self.newerBytes -= Self.zoneBytes
            for (name, record) in records { self.newerBytes -= Self.bytes(of: record, named: name.text) }
        }
    }

    // MARK: Sizes

    /// Approximate memory of a database, and of each zone in it, without records.
    private static let databaseBytes = 300
    private static let zoneBytes = 300
    /// Approximate memory of a record without its name and its body.
    private static let recordBytes = 350

    private static func bytes(of record: StoredRecord, named name: String) -> Int {
        Self.recordBytes + name.utf8.count + record.body.bytes.count
    }
}
