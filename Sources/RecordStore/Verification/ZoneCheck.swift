import StorageContract

/// A check of the contents of one zone, a piece at a time: each piece may come from another snapshot.
///
///     records ─▶ references ─▶ tombstones ─▶ entries ─▶ uses ─▶ past ─▶ shares ─▶ (strays) ─▶ end
///
/// Rows that belong together are compared within one snapshot. Sums need the whole zone, so they are compared
/// if its row did not change meanwhile.
struct ZoneCheck {
    enum Step {
        case records(after: Int64)
        case references(after: [ColumnValue])
        case tombstones(after: [ColumnValue])
        case entries(after: [ColumnValue])
        case uses(after: AssetUseRow?)
        case past(after: Int64)
        case shares
        case strays([Int64], after: EntryPosition?)
        case end
    }

    /// Rows with a body that one piece reads.
    static let bodiesMax = 64
    static let rowsMax = 500

    let key: ZoneKey
    let environment: EnvironmentID
    let place: StoreFinding.Place
    var step = Step.records(after: .min)
    var findings: [StoreFinding] = []
    /// Rows read, and bytes of bodies, since the last call.
    var work = 0
    var counted = StoredAmount()
    /// The last change that is in the order of changes, or a tombstone.
    var lastPosition: Int64 = 0
    var expectedEntries: [Int64: Int] = [:]
    var foundEntries: [Int64: Int] = [:]
    /// Whether nothing of the zone has changed since the first piece.
    private(set) var isStable = true
    /// The amount that its row lacks.
    private(set) var missing = StoredAmount()
    private var firstRow: ZoneRow?
    private var firstIncomplete: Set<Int64> = []

    init(_ zone: ZoneRow, in environment: EnvironmentID, at place: StoreFinding.Place) {
        self.key = zone.key
        self.environment = environment
        self.place = place
        self.lastPosition = zone.number
    }

    var isAtEnd: Bool { if case .end = self.step { true } else { false } }

    /// Reads pieces until about `workMax` rows and kibibytes were read, or to the end.
    mutating func goOn(in checked: CheckedSnapshot, workMax: Int) throws(StorageFailure) {
        guard let row = try checked.snapshot.row(ZoneRow.byNumber, self.key.database, self.key.number) else {
            // It was deleted meanwhile.
            (self.step, self.findings) = (.end, [])
            return
        }
        self.note(row, checked)
        let end = self.work + workMax
        while !self.isAtEnd, self.work < end { try self.readPiece(checked, row) }
    }

    private mutating func note(_ row: ZoneRow, _ checked: CheckedSnapshot) {
        guard let first = self.firstRow else {
            (self.firstRow, self.firstIncomplete) = (row, checked.incomplete)
            return
        }
        if first.position != row.position || first.records != row.records
            || first.recordBytes != row.recordBytes || first.rowBytes != row.rowBytes
            || self.firstIncomplete != checked.incomplete
        {
            self.isStable = false
        }
    }

    private mutating func readPiece(_ checked: CheckedSnapshot, _ row: ZoneRow) throws(StorageFailure) {
        switch self.step {
        case .records(let number): try self.checkRecords(after: number, checked)
        case .references(let key): try self.checkReferences(after: key, checked)
        case .tombstones(let key): try self.checkTombstones(after: key, upTo: row.position, checked)
        case .entries(let key): try self.countEntries(after: key, checked)
        case .uses(let use): try self.checkUses(after: use, checked)
        case .past(let position): try self.checkPast(after: position, checked)
        case .shares:
            try self.checkShares(checked)
            let suspects = self.suspectIndexes(checked.incomplete)
            self.step = suspects.isEmpty ? .end : .strays(suspects, after: nil)
            let database = try checked.snapshot.row(DatabaseRow.byKey, self.key.database)
            self.compareSums(with: row, databasePosition: database?.position ?? 0)
        case .strays(let indexes, let position): try self.findStrays(indexes, after: position, checked)
        case .end: break
        }
        self.work += 1
    }

    mutating func find(
        _ kind: StoreFinding.Kind,
        record: String? = nil,
        _ detail: String = "",
        repair: StoreFinding.Repair? = nil
    ) {
        var place = self.place
        place.record = record
        self.findings.append(StoreFinding(kind, at: place, detail, repair: repair))
    }

    /// Indexes that have more or fewer entries in the zone than its records say.
    private func suspectIndexes(_ incomplete: Set<Int64>) -> [Int64] {
        guard self.isStable else { return [] }
        return Set(self.expectedEntries.keys).union(self.foundEntries.keys).subtracting(incomplete)
            .filter { self.expectedEntries[$0, default: 0] < self.foundEntries[$0, default: 0] }.sorted()
    }

    /// Compares what was counted with what the row of the zone says.
    ///
    /// Its position may be later than that of its last record, but not than that of its database.
    private mutating func compareSums(with row: ZoneRow, databasePosition end: Int64) {
        guard self.isStable else { return }
        if row.position < self.lastPosition || (row.position > end && self.lastPosition <= end) {
            self.find(
                .zonePosition,
                "\(row.position), and the last change has \(self.lastPosition)",
                repair: .zone(self.key, adding: StoredAmount(), position: self.lastPosition)
            )
        }
        self.missing.records = self.counted.records &- row.records
        self.missing.recordBytes = self.counted.recordBytes &- row.recordBytes
        self.missing.rowBytes = self.counted.rowBytes &- row.rowBytes
        guard self.missing != StoredAmount() else { return }
        self.find(
            .zoneCounters,
            """
            \(row.records) records of \(row.recordBytes) bytes and \(row.rowBytes) bytes of rows, and it has \
            \(self.counted.records), \(self.counted.recordBytes) and \(self.counted.rowBytes)
            """,
            repair: .zone(self.key, adding: self.missing, position: 0)
        )
    }
}
