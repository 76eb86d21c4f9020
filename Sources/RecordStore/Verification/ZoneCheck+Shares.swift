import RecordModel
import StorageContract

// Shares of a zone, the records that belong to them, and the mirrors of their readers.
extension ZoneCheck {
    /// Each record has the membership that its share, or its parent, gives it.
    mutating func checkMemberships(
        of records: [(row: CheckedRecord, record: StoredRecord)],
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) {
        let shares = ZoneShares(try self.shares(checked))
        guard shares.hasTrees, shares.zoneWide == nil else { return }
        let parents = Set(records.compactMap { $0.record.parent.map { ExactName($0) } })
        let parentRecords = try checked.records(named: parents, in: self.key)
        let numbers = Set(records.map { $0.row.number }).union(parentRecords.values.map(\.number)).sorted()
        let rows = try checked.snapshot.rows(MembershipRow.byKey, keys: numbers)
        var memberships: [Int64: ShareNumber] = [:]
        // A membership of a share that is gone means nothing.
        for case let row? in rows where shares[row.share] != nil { memberships[row.record] = row.share }
        for (row, record) in records {
            let own = shares.share(ofRoot: row.name) ?? shares.share(named: row.name)
            let parent = record.parent.flatMap { parentRecords[ExactName($0)] }
            let wanted = own?.number ?? parent.flatMap { memberships[$0.number] }
            guard memberships[row.number] != wanted else { continue }
            self.find(
                .shareMembership,
                record: row.name,
                "share \(memberships[row.number]?.rawValue ?? 0) in place of \(wanted?.rawValue ?? 0)"
            )
        }
    }

    private func shares(_ checked: CheckedSnapshot) throws(StorageFailure) -> [StoredShare] {
        try checked.snapshot.rows(RowRange(ShareRow.byName, self.key.database, self.key.number)).map(\.stored)
    }

    /// Each share has its record and its root, and each reader a mirror; counts the rows.
    mutating func checkShares(_ checked: CheckedSnapshot) throws(StorageFailure) {
        for share in try self.shares(checked) {
            self.counted.rowBytes += Int64(RowBytes.share(named: share.name))
            let record = try checked.snapshot.record(named: share.name, in: self.key)
            if record?.recordType != ShareRecord.type { self.find(.shareRecordMissing, record: share.name) }
            if let root = share.root,
                try checked.snapshot.positions(ofRecordNamed: root, in: self.key) == nil
            {
                self.find(.shareRootMissing, record: root, "of share \(share.name)")
            }
            try self.checkMirrors(of: share, checked)
        }
        let (database, number) = (self.key.database, self.key.number)
        try checked.snapshot.visit(RowRange(ShareTokenRow.byRoot, database, number)) { token in
            self.counted.rowBytes += Int64(RowBytes.shareToken(of: token.root))
            self.work += 1
        }
        try checked.snapshot.visit(RowRange(MembershipChangeRow.byKey, database, number)) { change in
            self.counted.rowBytes += Int64(RowBytes.coverChange(named: change.name))
            self.work += 1
        }
    }

    private mutating func checkMirrors(
        of share: StoredShare,
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) {
        let snapshot = checked.snapshot
        let readers = try snapshot.rows(RowRange(ShareReaderRow.byShare, share.number))
            .filter { $0.permission.mayRead }
        self.work += readers.count
        guard !readers.isEmpty, try snapshot.row(ShareNewsRow.byKey, share.number) == nil else { return }
        let keys = readers.map { ZoneRow.byTarget.key($0.reader, self.key.database, self.key.number) }
        for (reader, mirror) in zip(readers, try snapshot.rows(ZoneRow.byTarget, keys: keys))
        where mirror == nil {
            let (database, zone) = (self.key.database, self.key.number)
            guard try snapshot.row(ViewRefreshRow.byKey, reader.reader, database, zone) == nil else {
                continue
            }
            self.find(
                .mirrorMissing,
                record: share.name,
                "in database \(reader.reader.rawValue)",
                repair: .mirror(reader: reader.reader, zone: self.key)
            )
        }
    }
}
