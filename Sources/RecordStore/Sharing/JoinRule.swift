import RecordModel
import StorageContract

/// The rules of `accept_shares` and `request_share_access`.
///
/// Both change share records, for users who come with the URLs of the shares.
///
/// A transaction changes the database of one owner. The change of a reader's rights leaves an entry
/// in the outbox, from which the reader's own database follows in the last transaction, or after a
/// crash at the next start. A user who repeats the request is found to have joined.
struct JoinRule {
    let requester: Requester
    let bounds: Bounds
    let quotas: StorageQuotas
    let transaction: any WriteTransaction

    /// Shares that one transaction changes.
    private static let changesMax = 100

    /// One outcome a token.
    func accept(
        _ tokens: [String],
        _ progress: JoinProgress?
    ) throws(StorageFailure) -> WriteRules.Execution {
        let room = RecordRoom(self.bounds)
        for case .shareAccepted(let record) in progress?.outcomes ?? [] { _ = room.take(record.body) }
        return try self.execute(tokens, progress) { (found, progress) throws(StorageFailure) in
            if let full = room.take(found.record.body) { return .failed(full) }
            return try self.accept(found, &progress)
        }
    }

    /// The same.
    func requestAccess(
        _ tokens: [String],
        _ progress: JoinProgress?
    ) throws(StorageFailure) -> WriteRules.Execution {
        try self.execute(tokens, progress) { (found, _) throws(StorageFailure) in
            try self.requestAccess(found)
        }
    }

    /// The share that a token leads to, for a requester who has joined it; it changes nothing.
    func joined(_ token: String) throws(StorageFailure) -> WriteOutcome {
        guard let found = try self.find(token) else { return .failed(.shareMissing) }
        return switch try self.entry(found) {
        case .joined: self.outcome(found, found.record)
        case .refused(let error): .failed(error)
        case .invited, .open: .failed(.shareMissing)
        }
    }

    private struct Found {
        let target: ShareTarget
        let share: StoredShare
        let record: StoredRecord
        let contents: Share
    }

    private func execute(
        _ tokens: [String],
        _ progress: JoinProgress?,
        _ body: (Found, inout JoinProgress) throws(StorageFailure) -> WriteOutcome
    ) throws(StorageFailure) -> WriteRules.Execution {
        if progress == nil {
            do throws(StoreError) {
                try Access.checkWriting(by: self.requester)
            } catch {
                return .finished(.failure(error), isReplay: false)
            }
            // A user who joins has a zone more, and what others store counts for them.
            let growth =
                RowBytes.zoneBase + 2 * Bounds.nameBytesMax + 2 * Bounds.recordNameBytesMax
                + RowBytes.outcome(RowBytes.outcomeItemMax)
            if let refusal = try self.transaction.refusal(
                ofGrowth: growth,
                in: self.requester.database,
                under: self.quotas
            ) {
                return .finished(.success(tokens.map { _ in .failed(refusal) }), isReplay: false)
            }
        }
        var progress = progress ?? JoinProgress()
        var changed: DatabaseID?
        var changesLeft = Self.changesMax
        for token in tokens[progress.outcomes.count...] {
            guard let found = try self.find(token) else {
                progress.outcomes.append(.failed(.shareMissing))
                continue
            }
            let database = found.target.zone.database
            if let changed, changed != database || changesLeft == 0 {
                return .unfinished(.joining(progress))
            }
            let positionsTaken = self.transaction.positionsTaken
            let outcome = try body(found, &progress)
            progress.outcomes.append(outcome)
            guard self.transaction.positionsTaken != positionsTaken else { continue }
            changed = database
            changesLeft -= 1
            progress.hasChanged = true
        }
        // An earlier execution may have joined, and not have learned that it was committed.
        let mustFollow =
            if progress.hasChanged { true } else {
                try MirrorOutbox(self.transaction).hasRefreshes(of: self.requester.database)
            }
        return mustFollow
            ? .unfinished(.following(progress.outcomes))
            : .finished(.success(progress.outcomes), isReplay: false)
    }

    private func find(_ token: String) throws(StorageFailure) -> Found? {
        let transaction = self.transaction
        let target = try transaction.target(ofToken: token) { (zone) throws(StorageFailure) in
            try transaction.rememberedShares(in: zone)
        }
        guard let target,
            target.environment == self.requester.environment, let share = target.share,
            let record = try self.transaction.record(named: share.name, in: target.zone),
            let contents = record.body.share
        else { return nil }
        return Found(target: target, share: share, record: record, contents: contents)
    }

    private func accept(
        _ found: Found,
        _ progress: inout JoinProgress
    ) throws(StorageFailure) -> WriteOutcome {
        let user = self.requester.userRecordName ?? ""
        var contents = found.contents
        let index: Int
        switch try self.entry(found) {
        case .refused(let error): return .failed(error)
        case .joined: return self.outcome(found, found.record)
        case .invited(let invited): index = invited
        case .open:
            guard contents.participants.count < Bounds.participantsMax else {
                return .failed(.tooManyParticipants)
            }
            contents.participants.append(self.publicParticipant(contents))
            index = contents.participants.count - 1
        }
        guard try self.hasRoom(for: found, &progress) else { return .failed(.tooManyZones) }
        contents.participants[index].identity.userRecordName = user
        contents.participants[index].acceptance = .accepted
        contents.participants[index].oneTimeToken = ""
        contents.requesters.removeAll { $0.userRecordName == user }
        let record = try self.rewrite(found, with: contents)
        let participant = contents.participants[index]
        let right = ReaderRight(permission: participant.permission, role: participant.role)
        try self.transaction.setReader(self.requester.database, of: found.share, right)
        return self.outcome(found, record)
    }

    /// Whether the requester's shared database has the zone already, or has room for it.
    ///
    /// The zone then counts as one of the database's.
    private func hasRoom(
        for found: Found,
        _ progress: inout JoinProgress
    ) throws(StorageFailure) -> Bool {
        let key = found.target.zone
        let zone = ZoneID(zoneName: found.target.zoneName, ownerName: found.target.ownerName)
        let database = self.requester.database
        guard !progress.zones.contains(key),
            try self.transaction.zone(named: SharedZoneName.text(of: zone), in: database) == nil
        else { return true }
        let zonesMax = self.bounds.zonesMax
        let count = try self.transaction.countOfZones(in: database, limit: zonesMax)
        guard count + progress.zones.count < zonesMax else { return false }
        progress.zones.insert(key)
        return true
    }

    private func entry(_ found: Found) throws(StorageFailure) -> ShareEntry {
        try ShareEntry(
            of: self.requester.userRecordName ?? "",
            to: found.contents,
            participant: found.target.participant
        ) { (lookup) throws(StorageFailure) in
            try self.transaction.user(lookup, in: self.requester.environment)
        }
    }

    private func publicParticipant(_ contents: Share) -> ShareParticipant {
        var participant = ShareParticipant(
            id: self.requester.userRecordName ?? "",
            identity: UserIdentity(),
            role: .publicUser,
            permission: contents.publicPermission
        )
        participant.addedMilliseconds = self.transaction.nowMilliseconds
        return participant
    }

    private func requestAccess(_ found: Found) throws(StorageFailure) -> WriteOutcome {
        let user = self.requester.userRecordName ?? ""
        switch try self.entry(found) {
        case .joined, .open: return .done
        case .invited: return .failed(.alreadyInvited)
        case .refused(.permissionDenied), .refused(.participantUnverified): break
        case .refused(let error): return .failed(error)
        }
        var contents = found.contents
        // Whether there is a share is not for people to know whom it does not let ask.
        guard contents.allowsAccessRequests, !contents.blocked.contains(where: { $0.userRecordName == user })
        else { return .failed(.shareMissing) }
        guard !contents.requesters.contains(where: { $0.userRecordName == user }) else { return .done }
        guard contents.requesters.count < Bounds.shareRequestersMax else {
            return .failed(.tooManyParticipants)
        }
        contents.requesters.append(UserIdentity(userRecordName: user, lookup: .userRecordName(user)))
        try self.rewrite(found, with: contents)
        return .done
    }

    @discardableResult
    private func rewrite(_ found: Found, with contents: Share) throws(StorageFailure) -> StoredRecord {
        let record = try RecordRewriting(
            transaction: self.transaction,
            requester: self.requester,
            zone: found.target.zone,
            zoneName: found.target.zoneName
        ).rewrite(found.record, named: found.share.name, with: found.record.body.with(contents))
        try self.transaction.noteChange(of: found.share.number)
        return record
    }

    private func outcome(_ found: Found, _ record: StoredRecord) -> WriteOutcome {
        let user = self.requester.userRecordName ?? ""
        let id = found.target.recordID(named: found.share.name, for: user)
        return .shareAccepted(record.seen(by: user).record(id: id))
    }
}

/// The outcomes of the first tokens of a request, in earlier transactions.
package struct JoinProgress: Sendable {
    var outcomes: [WriteOutcome] = []
    /// Whether the database of any owner has changed.
    var hasChanged = false
    /// Zones that the requester's shared database does not have yet.
    var zones: Set<ZoneKey> = []
}
