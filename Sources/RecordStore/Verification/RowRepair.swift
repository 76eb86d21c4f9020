import RecordModel
import StorageContract

/// Rows that follow from a record, written again as the record has it at the time of the repair.
struct RowRepair {
    let transaction: any WriteTransaction
    let zone: ZoneKey
    let environment: EnvironmentID

    func make(_ rows: StoreFinding.Rows) throws(StorageFailure) {
        switch rows {
        case .reference(let target, let referrer): try self.noteReference(to: target, by: referrer)
        case .tombstone(let record): try self.endTombstone(of: record)
        case .membership(let record): try self.spreadMembership(from: record)
        case .assetUse(let asset, let number, let record):
            try self.noteUse(of: asset, by: number, named: record)
        case .assetUseStray(let asset, let number, let record):
            try self.removeUse(of: asset, by: number, named: record)
        }
    }

    // MARK: References and tombstones

    private func noteReference(to target: String, by referrer: String) throws(StorageFailure) {
        let record = try self.transaction.record(named: referrer, in: self.zone)
        // What a damaged record refers to is not known.
        guard record.map({ !$0.isDamaged }) ?? true else { return }
        let kinds = record.flatMap { References(body: $0.body, parent: $0.parent).kinds[ExactName(target)] }
        // Whether there is a row, and of which kind, is not known: it goes first, so that what is
        // counted is right.
        for kinds in [[], kinds].compactMap(\.self) {
            var writes = RecordWrites()
            writes.repairs.references = [
                (referrer, ReferenceChange(target: target, kinds: kinds, before: nil))
            ]
            try self.transaction.apply(writes, to: self.zone, in: self.environment)
        }
    }

    /// Clients that came past the tombstone have removed the record, so it takes a new position.
    private func endTombstone(of name: String) throws(StorageFailure) {
        guard let record = try self.transaction.record(named: name, in: self.zone), !record.isDamaged,
            let row = try self.transaction.row(ZoneRow.byNumber, self.zone.database, self.zone.number)
        else { return }
        var writes = RecordWrites()
        writes.repairs.tombstones = [name]
        try self.transaction.apply(writes, to: self.zone, in: self.environment)
        let requester = Requester(
            database: self.zone.database,
            scope: .private,
            environment: self.environment,
            userRecordName: record.system.modifiedBy
        )
        let rewriting = RecordRewriting(
            transaction: self.transaction,
            requester: requester,
            zone: self.zone,
            zoneName: row.name
        )
        try rewriting.rewrite(record, named: name, with: record.body)
    }

    // MARK: Shares

    /// Bounds what one transaction writes; the next verification finds the rest.
    private static let membershipsMax = 1_000

    /// Gives a record its share, and then the records below it, as far as theirs is another.
    private func spreadMembership(from name: String) throws(StorageFailure) {
        let range = RowRange(ShareRow.byName, self.zone.database, self.zone.number)
        let shares = ZoneShares(try self.transaction.rows(range).map(\.stored))
        guard shares.hasTrees, shares.zoneWide == nil else { return }
        var names = [name]
        var changed = 0
        while let next = names.popLast(), changed < Self.membershipsMax {
            guard try self.setMembership(of: next, shares) else { continue }
            changed += 1
            names += try self.transaction
                .referrers(of: next, in: self.zone, behind: "", limit: Self.membershipsMax)
                .filter { $0.kinds.contains(.parent) }.map(\.name)
        }
    }

    /// - Returns: Whether it had another.
    private func setMembership(of name: String, _ shares: ZoneShares) throws(StorageFailure) -> Bool {
        guard let record = try self.transaction.record(named: name, in: self.zone) else { return false }
        let before = try self.membership(of: record, shares)
        var wanted = (shares.share(ofRoot: name) ?? shares.share(named: name))?.number
        if wanted == nil, let parent = record.parent,
            let above = try self.transaction.record(named: parent, in: self.zone)
        {
            wanted = try self.membership(of: above, shares)
        }
        guard before != wanted else { return false }
        for (share, isArrival) in [(before, false), (wanted, true)] {
            guard let share else { continue }
            let position = try self.transaction.takePosition(in: self.zone.database)
            let change = MembershipChange(
                position: position,
                share: share,
                isArrival: isArrival,
                record: record.number,
                name: name,
                recordType: record.recordType
            )
            try self.transaction.note([change], in: self.zone, environment: self.environment)
            try self.transaction.noteChange(of: share)
            guard isArrival else { continue }
            try self.transaction.put(MembershipRow(record: record.number, share: share, since: position))
        }
        if wanted == nil {
            try self.transaction.delete(keys: [[.integer(record.number)]], from: MembershipRow.table)
        }
        return true
    }

    private func membership(
        of record: StoredRecord,
        _ shares: ZoneShares
    ) throws(StorageFailure) -> ShareNumber? {
        let row = try self.transaction.row(MembershipRow.byKey, record.number)
        return row.flatMap { shares[$0.share]?.number }
    }

    // MARK: Assets

    private func noteUse(
        of asset: AssetNumber,
        by number: Int64,
        named name: String
    ) throws(StorageFailure) {
        guard let record = try self.transaction.record(named: name, in: self.zone), record.number == number,
            try self.namedAssets(of: record)?.contains(asset) ?? false
        else { return }
        try self.transaction.addUse(of: asset, by: RecordKey(zone: self.zone, number: number))
    }

    private func removeUse(
        of asset: AssetNumber,
        by number: Int64,
        named name: String?
    ) throws(StorageFailure) {
        if let name, let record = try self.transaction.record(named: name, in: self.zone),
            record.number == number
        {
            guard let named = try self.namedAssets(of: record), !named.contains(asset) else { return }
        }
        try self.transaction.removeUse(of: asset, by: RecordKey(zone: self.zone, number: number))
    }

    /// `nil` if one of them is not there: then a note with another number may be meant for it.
    private func namedAssets(of record: StoredRecord) throws(StorageFailure) -> Set<AssetNumber>? {
        guard !record.isDamaged else { return nil }
        let named = Array(Set(record.body.namedAssets.map(\.asset)))
        let numbers = try self.transaction.assets(named, in: self.zone.database)
        return numbers.contains(nil) ? nil : Set(numbers.compactMap(\.self))
    }
}
