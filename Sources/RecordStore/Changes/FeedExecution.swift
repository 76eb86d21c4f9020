package import RecordModel
package import StorageContract

/// Reads one page of a feed, or its current position, from a `Snapshot`.
package struct FeedExecution {
    let requester: Requester
    let budget: FeedBudget
    let snapshot: any Snapshot

    package init(for requester: Requester, budget: FeedBudget = .defaults, snapshot: any Snapshot) {
        self.requester = requester
        self.budget = budget
        self.snapshot = snapshot
    }

    // MARK: A zone

    /// The items go into the sink, in order.
    package func page(_ read: FeedRead, into sink: any FeedSink) throws(FeedFailure) -> FeedPageEnd {
        let zone = try self.zone(read.zone)
        let state = try self.state(of: zone.key.database)
        let shared = try self.sharedAccess(to: zone.key)
        let token = try read.token.map { (bytes) throws(FeedFailure) in
            try self.token(bytes, zone: zone.key, state)
        }
        if let token, shared != nil { try self.checkExpiry(of: token, in: zone.key) }
        var page = FeedPage(
            read,
            in: zone.key,
            shared: shared,
            ahead: token?.ahead ?? SentAhead(),
            self,
            into: sink
        )
        var next: ChangeToken
        if let token { next = token } else { next = self.beginning(of: zone, read.order, state, page) }
        var totals: SnapshotTotals?
        if case .snapshot(let snapshot) = next.phase {
            totals = snapshot.totals
            let end = try page.fill(from: snapshot)
            next.phase =
                end.map { .snapshot($0) } ?? .feed(after: snapshot.position, known: ChangeToken.nothing)
        }
        var isThrough = false
        if case .feed(let after, let known) = next.phase {
            let end = zone.position > after ? try page.fill(after: after, known: known) : nil
            isThrough = end == nil
            next.phase =
                end.map { .feed(after: $0, known: known) }
                ?? .feed(after: state.position, known: state.position)
        }
        next.ahead = page.ahead
        if case .feed(let after, _) = next.phase { next.ahead.removeAll(through: after) }
        var end = FeedPageEnd(
            token: next.bytes,
            moreComing: !isThrough,
            totals: totals,
            clientToken: zone.clientToken
        )
        end.progress = FeedProgress(
            zone: zone.key,
            position: token?.reached ?? 0,
            sent: next.reached,
            skipped: next.skipped
        )
        return end
    }

    private func beginning(
        of zone: FeedZone,
        _ order: FetchChanges.SnapshotOrder,
        _ state: FeedState,
        _ page: FeedPage
    ) -> ChangeToken {
        let totals = SnapshotTotals(
            records: UInt64(clamping: zone.recordCount),
            bytes: UInt64(clamping: zone.byteCount)
        )
        let snapshot = ChangeToken.Snapshot(
            order: order,
            position: state.position,
            last: nil,
            totals: page.readsEverything ? totals : nil
        )
        return self.token(of: zone.key, .snapshot(snapshot), state)
    }

    // MARK: A database

    /// The items go into the sink, in order.
    package func page(_ read: DatabaseFeedRead, into sink: any FeedSink) throws(FeedFailure) -> FeedPageEnd {
        let state = try self.state(of: self.requester.database)
        var after = ChangeToken.nothing
        if let bytes = read.token {
            // A database has no snapshots.
            guard case .feed(let position, _) = try self.token(bytes, zone: nil, state).phase else {
                throw .refused(.changeTokenExpired)
            }
            after = position
        }
        let turns = try self.zoneTurns(after: after, limit: read.limit + 1, hasToken: read.token != nil)
        for turn in turns.prefix(read.limit) {
            after = turn.position
            let id = Access.zone(storedAs: turn.name, for: self.requester)
            guard turn.isDeletion else {
                sink.add(changed: id)
                continue
            }
            // Created again: its new self has a turn of its own.
            let database = self.requester.database
            let isThere = try FeedFailure.wrapping { () throws(StorageFailure) in
                try self.snapshot.feedZone(named: turn.name, in: database) != nil
            }
            if !isThere { sink.add(deleted: id) }
        }
        let isThrough = turns.count <= read.limit
        if isThrough { after = state.position }
        let token = self.token(of: nil, .feed(after: after, known: after), state)
        return FeedPageEnd(token: token.bytes, moreComing: !isThrough, totals: nil)
    }

    private typealias ZoneTurn = (position: Int64, name: String, isDeletion: Bool)

    /// Changes and deletions of zones in order, at least the first `limit` that there are.
    private func zoneTurns(after: Int64, limit: Int, hasToken: Bool) throws(FeedFailure) -> [ZoneTurn] {
        try FeedFailure.wrapping { () throws(StorageFailure) in
            let database = self.requester.database
            var turns: [ZoneTurn] = try self.snapshot.zones(of: database, after: after, limit: limit)
                .map { ($0.position, $0.name, false) }
            if hasToken {
                turns += try self.snapshot.zoneDeletions(of: database, after: after, limit: limit)
                    .map { ($0.position, $0.name, true) }
            }
            return turns.sorted { $0.position < $1.position }
        }
    }

    // MARK: Tokens

    /// The token for now, of a zone or of the database.
    package func token(of zone: ZoneID?) throws(FeedFailure) -> [UInt8] {
        let key = try zone.map { (zone) throws(FeedFailure) in try self.key(of: zone) }
        if let key { _ = try self.sharedAccess(to: key) }
        let state = try self.state(of: key?.database ?? self.requester.database)
        var token = self.token(of: key, .feed(after: state.position, known: state.position), state)
        token.skipped = max(state.position, 0)
        return token.bytes
    }

    /// Makes a token of a zone, in the database where its records are, or of the requester's
    /// database.
    private func token(of zone: ZoneKey?, _ phase: ChangeToken.Phase, _ state: FeedState) -> ChangeToken {
        ChangeToken(
            database: zone?.database ?? self.requester.database,
            epoch: state.epoch,
            zone: zone?.number,
            phase: phase
        )
    }

    /// Reads a token that came back.
    private func token(
        _ bytes: [UInt8],
        zone: ZoneKey?,
        _ state: FeedState
    ) throws(FeedFailure) -> ChangeToken {
        let token: ChangeToken
        do throws(StoreError) {
            token = try ChangeToken(bytes)
        } catch {
            throw .refused(error)
        }
        guard token.database == zone?.database ?? self.requester.database, token.epoch == state.epoch,
            token.zone == zone?.number,
            // Behind the last position it is from a future that a backup took back.
            (state.tombstonesGoneThrough...max(state.position, state.tombstonesGoneThrough))
                .contains(token.position)
        else { throw .refused(.changeTokenExpired) }
        return token
    }

    /// In another user's zone, a token from before the requester's rights is expired.
    private func checkExpiry(of token: ChangeToken, in zone: ZoneKey) throws(FeedFailure) {
        let expired = try FeedFailure.wrapping { () throws(StorageFailure) in
            try self.snapshot.tokensExpiredThrough(in: zone, of: self.requester.database)
        }
        guard token.position >= expired else { throw .refused(.changeTokenExpired) }
    }

    private func state(of database: DatabaseID) throws(FeedFailure) -> FeedState {
        let state = try FeedFailure.wrapping { () throws(StorageFailure) in
            try self.snapshot.state(of: database)
        }
        guard let state else { throw .refused(.internalFault) }
        return state
    }

    /// Finds the key of a zone, without its counters.
    private func key(of id: ZoneID) throws(FeedFailure) -> ZoneKey {
        let key = try FeedFailure.wrapping { () throws(StorageFailure) in
            try self.snapshot.key(of: id, for: self.requester)
        }
        guard let key else { throw .refused(.missing(id)) }
        return key
    }

    private func zone(_ id: ZoneID) throws(FeedFailure) -> FeedZone {
        guard let name = Access.storedName(of: id, for: self.requester) else {
            throw .refused(.missing(id))
        }
        let zone = try FeedFailure.wrapping { () throws(StorageFailure) in
            try self.snapshot.feedZone(named: name, in: self.requester.database)
        }
        guard let zone else { throw .refused(.missing(id)) }
        return zone
    }

    /// The requester's rights in another user's zone; `nil` if the zone is their own.
    private func sharedAccess(to zone: ZoneKey) throws(FeedFailure) -> SharedAccess? {
        guard self.requester.scope == .shared else { return nil }
        let access = try FeedFailure.wrapping { () throws(StorageFailure) in
            try self.snapshot.sharedAccess(to: zone, of: self.requester.database)
        }
        guard !access.isEmpty else { throw .refused(.zoneMissing) }
        return access
    }
}

extension ChangeToken {
    /// The position up to which a client with this token has everything; 0 while its snapshot is
    /// not complete.
    fileprivate var reached: Int64 {
        max(self.positionOfChanges ?? 0, 0)
    }
}
