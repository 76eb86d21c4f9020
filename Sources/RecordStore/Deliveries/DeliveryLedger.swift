import StorageContract

/// The ledger of what installations have fetched: writes down how far they have followed zones.
///
/// A page of a feed costs an entry in memory here, and no transaction (`SeenInstallations`).
package final class DeliveryLedger: Sendable {
    private let engine: any StorageEngine
    private let clock: @Sendable () -> Int64
    let seen = SeenInstallations()

    init(engine: any StorageEngine, clock: @escaping @Sendable () -> Int64) {
        self.engine = engine
        self.clock = clock
    }

    /// Notes the progress of an installation, as a page showed it.
    func note(_ progress: FeedProgress, by client: SeenBy) {
        let position = SeenPosition(
            position: progress.position,
            sent: progress.sent,
            skipped: progress.skipped,
            atMilliseconds: self.clock()
        )
        let key = SeenInstallations.Key(
            zone: progress.zone,
            user: client.user,
            installation: client.installation
        )
        if let due = self.seen.add(position, of: key) { self.write(due) }
    }

    /// Has the engine write down everything before it shuts down.
    func flush() {
        self.write(SeenInstallations.DueJob(job: self.seen.newJob(), pauseMilliseconds: 0), takesAll: true)
    }

    private func write(_ due: SeenInstallations.DueJob, takesAll: Bool = false) {
        let (seen, clock) = (self.seen, self.clock)
        let job = WriteJob(asideAfterMilliseconds: due.pauseMilliseconds) {
            transaction throws(StorageFailure) in
            try transaction.write(
                seen.take(
                    for: due.job,
                    nowMilliseconds: clock(),
                    max: takesAll ? .max : SeenInstallations.writtenMax,
                    takesAll: takesAll
                )
            )
            return .finished {
                if let next = seen.written(by: due.job, nowMilliseconds: clock()) { self.write(next) }
            }
        } fail: { failure in
            let next = seen.failed(due.job, nowMilliseconds: clock())
            guard failure != .shuttingDown, let next else { return }
            self.write(next, takesAll: takesAll)
        }
        self.engine.write(job)
    }
}

extension WriteTransaction {
    /// Maximum installations with rows in a zone, for one user and for all: the latest ones.
    static var installationsOfUserMax: Int { 32 }
    static var installationsOfZoneMax: Int { 1_000 }

    /// Writes how far installations have followed zones that are still there.
    ///
    /// Rows of installations that have not come for longest go when a zone has too many.
    func write(_ seen: [SeenInstallations.Key: SeenPosition]) throws(StorageFailure) {
        let keys = Array(seen.keys)
        let zones = try self.rows(
            ZoneRow.byNumber,
            keys: keys.map { ZoneRow.byNumber.key($0.zone.database, $0.zone.number) }
        )
        let stored = try self.rows(
            InstallationSeenRow.byKey,
            keys: keys.map {
                InstallationSeenRow.byKey.key($0.zone.database, $0.zone.number, $0.user, $0.installation)
            }
        )
        for ((key, zone), row) in zip(zip(keys, zones), stored) {
            // One that leads to another has no records of its own.
            guard let zone, zone.targetDatabase == nil, var position = seen[key] else { continue }
            if var known = row?.seen {
                known.advance(to: position)
                position = known
            }
            try self.put(InstallationSeenRow(position, of: key))
            if row == nil { try self.removeExcess(beside: key) }
        }
    }

    private func removeExcess(beside key: SeenInstallations.Key) throws(StorageFailure) {
        let (database, number) = (key.zone.database, key.zone.number)
        let own = RowRange(InstallationSeenRow.byKey, database, number, key.user)
        let mine = try self.rows(own, limit: Self.installationsOfUserMax + 1)
        if mine.count > Self.installationsOfUserMax {
            let oldest = mine.min { $0.seen.atMilliseconds < $1.seen.atMilliseconds }
            if let oldest { try self.delete(oldest) }
            return
        }
        let all = RowRange(InstallationSeenRow.byKey, database, number)
        let count = try self.count(all, limit: Self.installationsOfZoneMax + 1)
        guard count > Self.installationsOfZoneMax else { return }
        try self.delete(RowRange(InstallationSeenRow.byTime, database, number), limit: 1)
    }
}
