import RecordModel
import StorageContract

extension ExplainExecution {
    /// A subscription that a verdict is wanted for.
    private struct Asked {
        let stored: StoredSubscription
        let scope: DatabaseScope
    }

    /// Subscriptions that the requester may see, each with whether the record's last change is one
    /// that it is about, up to the bounds; and whether there are more.
    func matches(
        of subject: Subject,
        _ readers: [ExplainedReader]
    ) throws(StorageFailure) -> (listed: [RecordExplanation.Match], isTruncated: Bool) {
        let shape = RecordTypeShape(
            try self.snapshot.fields(
                ofType: subject.stored.recordType,
                in: self.requester.environment
            )
        )
        let record = ComparedRecord(NamedRecord(name: subject.id.recordName, stored: subject.stored))
        var matches: [RecordExplanation.Match] = []
        var comparisons = 0
        for asked in try self.subscriptions(of: readers) {
            let kind = try asked.stored.subscription().kind
            comparisons += kind.comparisonCount
            guard matches.count < Self.listedMax, comparisons <= Bounds.explainedComparisonsMax else {
                return (matches, true)
            }
            let owner = asked.stored.key.owner
            let change = SubscriptionMatch.Change(
                record: record,
                zone: subject.id.zone,
                position: try self.position(of: subject, in: asked),
                isCreation: subject.stored.position == subject.createdPosition,
                scope: asked.scope
            )
            var mayRead = true
            if asked.scope == .public {
                mayRead = try self.access(to: subject.stored, of: owner).mayRead(subject.stored)
            }
            let match = SubscriptionMatch(
                of: kind,
                savedAt: asked.stored.key.position,
                change: change,
                shape: shape,
                mayRead: mayRead
            )
            matches.append(
                RecordExplanation.Match(
                    subscriptionID: asked.stored.key.id,
                    userRecordName: owner,
                    isMatch: match.isMatch,
                    why: match.why
                )
            )
        }
        return (matches, false)
    }

    /// The place of the record's last change in the order that counts for a subscription: in a shared
    /// database, where the zone changed last.
    private func position(of subject: Subject, in asked: Asked) throws(StorageFailure) -> Int64 {
        guard asked.scope == .shared else { return subject.stored.position }
        let zone = try self.snapshot.row(
            ZoneRow.byTarget,
            asked.stored.key.database,
            subject.zone.database,
            subject.zone.number
        )
        return zone?.position ?? 0
    }

    private func subscriptions(of readers: [ExplainedReader]) throws(StorageFailure) -> [Asked] {
        guard self.requester.isOperator else {
            guard let user = self.requester.userRecordName else { return [] }
            return try self.listed(of: user, in: self.requester.database).map {
                Asked(stored: $0, scope: self.requester.scope)
            }
        }
        var asked: [Asked] = []
        let all = RowRange(SubscriptionRow.byOwner, self.requester.database)
        for row in try self.snapshot.rows(all, limit: Self.listedMax + 1) {
            let owner = try self.snapshot.userRecordName(ofAuthor: row.owner)
            asked.append(Asked(stored: row.stored(ownedBy: owner), scope: self.requester.scope))
        }
        for reader in readers {
            guard let database = reader.sharedDatabase else { continue }
            guard asked.count <= Self.listedMax else { break }
            asked += try self.listed(of: reader.name, in: database).map {
                Asked(stored: $0, scope: .shared)
            }
        }
        return asked
    }

    /// Subscriptions of a user; one more than is listed at most.
    private func listed(
        of user: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> [StoredSubscription] {
        guard let author = try self.snapshot.authorNumber(ofUser: user) else { return [] }
        let own = RowRange(SubscriptionRow.byOwner, database, author)
        return try self.snapshot.rows(own, limit: Self.listedMax + 1).map { $0.stored(ownedBy: user) }
    }
}
