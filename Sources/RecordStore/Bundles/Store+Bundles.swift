package import RecordModel
package import StorageContract

/// Zones that are copied from one store to another.
extension Store {
    /// Passes all records of zones of a private or public database, from one snapshot.
    ///
    /// The visitor is called on a thread of the engine, from one thread at a time, and ends the copy by
    /// returning false. The store's log grows as long as the snapshot is open.
    ///
    /// `names` are the zones; `nil` for all.
    package func copyZones(
        _ names: [String]?,
        for requester: Requester,
        reply: @escaping @Sendable (Result<Void, StoreError>) -> Void,
        visit: @escaping @Sendable (ZoneCopyStep) -> Bool
    ) {
        self.read(.long, for: requester, reply) { (snapshot) throws(StorageFailure) in
            let copy = ZoneCopy(requester: requester, snapshot: snapshot, visit: visit)
            do throws(FeedFailure) {
                return .success(try copy.run(names))
            } catch {
                switch error {
                case .refused(let refusal): return .failure(refusal)
                case .storage(let failure): throw failure
                }
            }
        }
    }

    /// Counts the records of zones of a private or public database: one element a name, `nil` for a
    /// zone that is not there.
    ///
    /// Records of users do not count: each server makes its own.
    package func recordCounts(
        ofZones names: [String],
        for requester: Requester,
        reply: @escaping @Sendable (Result<[Int64?], StoreError>) -> Void
    ) {
        self.read(.long, for: requester, reply) { (snapshot) throws(StorageFailure) in
            var counts: [Int64?] = []
            for name in names {
                guard let zone = try snapshot.feedZone(named: name, in: requester.database) else {
                    counts.append(nil)
                    continue
                }
                do throws(FeedFailure) {
                    counts.append(try snapshot.recordCount(in: zone))
                } catch {
                    switch error {
                    case .refused(let refusal): return .failure(refusal)
                    case .storage(let failure): throw failure
                    }
                }
            }
            return .success(counts)
        }
    }

    /// Says whether each of these records is there as `restore` would make it, and has not changed since.
    package func areRestored(
        _ records: [Record],
        for requester: Requester,
        reply: @escaping @Sendable (Result<Bool, StoreError>) -> Void
    ) {
        self.read(.long, for: requester, reply) { (snapshot) throws(StorageFailure) in
            for record in records {
                let zone = try snapshot.feedZone(named: record.id.zone.zoneName, in: requester.database)
                guard let zone,
                    let stored = try snapshot.record(named: record.id.recordName, in: zone.key),
                    stored.record(id: record.id).isCopy(of: record)
                else { return .success(false) }
            }
            return .success(true)
        }
    }

    /// Saves records of one zone as another store had them: all of them, or none.
    ///
    /// They take positions, like any save. Blocks the caller until they are on disk.
    ///
    /// - Shape: At most `Bounds.requestItemsMax`.
    /// - Throws: `RestoreRefusal`.
    package func restore(
        _ records: RestoredRecords,
        for requester: Requester
    ) throws(RestoreRefusal) {
        try self.administerRestore { rules, transaction in
            try records.execute(for: requester, rules: rules, in: transaction)
        }
    }

    /// Brings the shared databases of users who read restored shares up to date.
    ///
    /// Blocks the caller until that is on disk. Without it the server does so at its next change of a
    /// share.
    ///
    /// - Throws: `RestoreRefusal`.
    package func updateViews() throws(RestoreRefusal) {
        try self.administerRestore { _, transaction in try MirrorOutbox(transaction).applyAll() }
    }

    private func administerRestore(
        _ work: @escaping @Sendable (WriteRules, any WriteTransaction) throws -> Void
    ) throws(RestoreRefusal) {
        let rules = self.writeRules
        do {
            try self.engine.administer { try work(rules, $0) }
        } catch let refusal as RestoreRefusal {
            throw refusal
        } catch {
            let failure = error as? StorageFailure ?? .unavailable(code: 0)
            throw RestoreRefusal(recordName: nil, error: StoreError(JobFailure.storage(failure)))
        }
    }
}

extension Snapshot {
    /// Counts the records of a zone without those of users.
    fileprivate func recordCount(in zone: FeedZone) throws(FeedFailure) -> Int64 {
        guard zone.recordCount > 0 else { return 0 }
        var count: Int64 = 0
        try self.visitRecords(of: zone.key, beyond: nil, isDescending: false) {
            (row: borrowing FeedRow) throws(FeedFailure) in
            if !row.record.recordType.elementsEqual(UserRecord.type.utf8) { count += 1 }
            return true
        }
        return count
    }
}
