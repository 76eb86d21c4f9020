/// Zones that are copied from one store to another.
extension Store {
    /// Passes all records of zones of a private database, from one snapshot.
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

    /// Says whether zones of a private database are there, and whether they are empty: one element a
    /// name, `nil` for a zone that is not there.
    ///
    /// The user's own record does not count.
    package func areZonesEmpty(
        _ names: [String],
        for requester: Requester,
        reply: @escaping @Sendable (Result<[Bool?], StoreError>) -> Void
    ) {
        self.read(.long, for: requester, reply) { (snapshot) throws(StorageFailure) in
            var found: [Bool?] = []
            for name in names {
                guard let zone = try snapshot.feedZone(named: name, in: requester.database) else {
                    found.append(nil)
                    continue
                }
                var records = zone.recordCount
                if let user = requester.userRecordName,
                    try snapshot.record(named: user, in: zone.key) != nil
                {
                    records -= 1
                }
                found.append(records == 0)
            }
            return .success(found)
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
        try self.administerRestore { _, transaction in try ViewOutbox(transaction).applyAll() }
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
