import RecordModel
import RecordStore
import StorageContract
import WireProtocol

// From a transaction's changes to notifications. A query's subscription has one per record; a
// zone's and a database's have one per transaction, about all changes there.
extension NotificationRouting {
    /// How far a transaction has come.
    enum RoutingStep: Hashable {
        case routed
        /// It is to be gone on with, before anything else of its databases.
        case isLeft
        /// The same, when the questions of the commit have their answers.
        case asks
    }

    /// Routes a transaction further, until it is done or the cost limit is reached.
    ///
    /// - Parameters:
    ///   - commit: The transaction, with its routing progress.
    ///   - costMax: In comparisons; exceeded by one change at most.
    ///   - isStopped: Whether the router has been stopped, checked before each change; the rest is
    ///     then skipped.
    /// - Returns: How far it has come.
    mutating func route(
        _ commit: inout RoutedCommit,
        costMax: Int = .max,
        isStopped: () -> Bool = { false }
    ) -> RoutingStep {
        let committed = commit.committed
        let before = self.cost
        // News of something later may have been told meanwhile.
        for match in commit.takeMatches() where match.change.position >= match.watch.notifiedPosition {
            self.fire(match, commit)
        }
        while commit.next < committed.changes.count {
            guard !isStopped() else { return .routed }
            guard self.cost - before < costMax else { return commit.questions.isEmpty ? .isLeft : .asks }
            let change = committed.changes[commit.next]
            commit.next += 1
            self.uncharged += RoutingBudget.changeCost
            switch change.kind {
            case .subscriptionSaved(let watched):
                self.saved(watched, in: change.environment)
            case .subscriptionDeleted(let key):
                self.deleted(key, in: change.environment)
            case .zoneCreated(let zone), .zoneChanged(let zone), .zoneDeleted(let zone):
                self.touch(change, ofType: nil, zone: zone, &commit)
            case .record(let record):
                self.compare(change, record, &commit)
                self.touch(change, ofType: record.recordType, zone: record.zone, &commit)
            }
        }
        guard commit.questions.isEmpty else { return .asks }
        self.fireTouched(commit)
        for (database, position) in committed.overwritten { self.oweQueries(commit, of: database, position) }
        // The tail of an incomplete transaction begins where it did before.
        if let last = committed.changes.last, committed.incomplete[last.database] == nil {
            self.advance(last.database, to: last.position)
        }
        return .routed
    }

    // MARK: - Queries

    /// Fires the queries that a changed record matches, for users who may read it.
    private mutating func compare(
        _ change: CommittedChange,
        _ record: CommittedRecord,
        _ commit: inout RoutedCommit
    ) {
        guard let stored = record.after ?? record.before,
            self.index.hasQueries(ofType: stored.recordType, inZone: record.zone, of: change.database)
        else { return }
        guard record.after != nil || record.isBeforeKnown else {
            return self.compare(change, record, deleted: stored, &commit)
        }
        let compared = ComparedRecord(NamedRecord(name: record.name, stored: stored))
        var groups: [WatchGroup] = []
        self.index.forEachQuery(meeting: compared, inZone: record.zone, of: change.database) {
            groups.append($0)
        }
        guard !groups.isEmpty else { return }
        self.lastChange += 1
        let shape = self.shapes.shape(ofType: stored.recordType, in: change.environment, record.definitions)
        for group in groups {
            let account = group.audience.user.account
            for watch in group.watches where watch.comparedChange != self.lastChange {
                guard self.budget.admits(account) else {
                    self.owe(group, upTo: change.position)
                    break
                }
                watch.comparedChange = self.lastChange
                guard watch.isFired(by: record.firesOn, at: change.position),
                    self.matches(watch, compared, shape)
                else { continue }
                self.found(watch, of: group, change, record, stored, &commit)
            }
        }
    }

    /// Fires the queries that match a deletion regardless of the record's values, for users who may
    /// read it.
    ///
    /// The others are owed a change hint: no row has the values.
    private mutating func compare(
        _ change: CommittedChange,
        _ record: CommittedRecord,
        deleted: StoredRecord,
        _ commit: inout RoutedCommit
    ) {
        var groups: [WatchGroup] = []
        self.index.forEachQuery(ofType: deleted.recordType, inZone: record.zone, of: change.database) {
            groups.append($0)
        }
        self.lastChange += 1
        for group in groups {
            var isOwed = false
            for watch in group.watches
            where watch.comparedChange != self.lastChange && watch.isFired(by: .deletion, at: change.position)
            {
                guard !watch.looksAtDeletedValues, self.budget.admits(group.audience.user.account) else {
                    isOwed = true
                    continue
                }
                watch.comparedChange = self.lastChange
                self.budget.charge(1, to: group.audience.user.account)
                self.found(watch, of: group, change, record, deleted, &commit)
            }
            if isOwed { self.owe(group, upTo: change.position) }
        }
    }

    /// Owes change hints to the queries of a database's zones where earlier changes were
    /// overwritten: the intermediate values of the records are unknown.
    private mutating func oweQueries(
        _ commit: RoutedCommit,
        of database: DatabaseID,
        _ position: Int64
    ) {
        let zones = Set(commit.committed.changes.filter { $0.database == database }.map(\.kind.zone))
        var groups: [WatchGroup] = []
        for zone in zones {
            guard let zone else { continue }
            self.index.forEachQuery(ofType: nil, inZone: zone, of: database) { groups.append($0) }
        }
        self.uncharged += groups.count
        for group in groups { self.owe(group, upTo: position) }
        self.advance(database, to: position)
    }

    /// Compares, and charges the subscription's user.
    private mutating func matches(
        _ watch: Watch,
        _ record: ComparedRecord,
        _ shape: RecordTypeShape
    ) -> Bool {
        let before = record.comparisons
        let (isMet, checked) = watch.matches(record, shape: shape)
        let comparisons = record.comparisons - before + checked
        self.counts.comparisons += comparisons
        self.budget.charge(1 + comparisons, to: watch.audience.user.account)
        return isMet
    }

    /// Fires a query that a change meets, if its user may read the record.
    ///
    /// In the public database that is asked, for all of a step together. Matches behind the first
    /// question wait as well: a subscription hears of changes in their order.
    private mutating func found(
        _ watch: Watch,
        of group: WatchGroup,
        _ change: CommittedChange,
        _ record: CommittedRecord,
        _ stored: StoredRecord,
        _ commit: inout RoutedCommit
    ) {
        var match = RoutedCommit.Match(
            watch: watch,
            group: group,
            change: change,
            record: record,
            question: nil
        )
        if watch.subject.scope == .public {
            match.question = ReadQuestion(
                requester: Requester(
                    database: watch.subject.key.database,
                    scope: .public,
                    environment: watch.audience.user.signIn.environment,
                    userRecordName: watch.subject.key.owner
                ),
                recordType: stored.recordType,
                createdBy: stored.system.createdBy
            )
        }
        let isKnown = match.question.map { commit.permissions[$0] != nil } ?? true
        guard !commit.matches.isEmpty || !isKnown else { return self.fire(match, commit) }
        if commit.wait(for: match) {
            self.budget.charge(RoutingBudget.questionCost, to: group.audience.user.account)
        }
    }

    /// Fires a query, unless its user may not read the record.
    ///
    /// The subscription is owed news if the engine could not tell whether the user may.
    private mutating func fire(_ match: RoutedCommit.Match, _ commit: RoutedCommit) {
        guard let mayRead = match.question.map({ commit.permissions[$0] ?? nil }) ?? true else {
            return self.owe(match.group, upTo: match.change.position)
        }
        guard mayRead else { return }
        self.fire(match.watch, match.change, match.record, at: commit.committed.committedMilliseconds)
    }

    private mutating func fire(
        _ watch: Watch,
        _ change: CommittedChange,
        _ record: CommittedRecord,
        at milliseconds: Int64
    ) {
        let id = RecordID(zone: ZoneID(zoneName: record.zone), recordName: record.name)
        let content = NotificationContent(
            of: watch.subject,
            event: .query(Notification.RecordChange(id: id, reason: record.reason)),
            values: (record.after ?? record.before)?.body,
            committedMilliseconds: milliseconds
        )
        let notification = OutgoingNotification(
            about: watch.subject,
            position: change.position,
            content: content.encoded,
            isCoalesced: false
        )
        self.post(notification, of: watch, excluding: change.origin)
    }

    // MARK: - Zones and databases

    private func touch(
        _ change: CommittedChange,
        ofType recordType: String?,
        zone: String,
        _ commit: inout RoutedCommit
    ) {
        self.index.forEachChange(ofType: recordType, inZone: zone, of: change.database) { group in
            commit.touch(group, at: change.position, by: change.origin)
        }
    }

    private mutating func fireTouched(_ commit: RoutedCommit) {
        for touched in commit.touched {
            for watch in touched.group.watches where watch.wasThere(at: touched.position) {
                guard self.budget.admits(touched.group.audience.user.account) else {
                    self.owe(touched.group, upTo: touched.position)
                    break
                }
                let subject = watch.subject
                let event: Notification.Event =
                    if case .zone(let zone, _) = subject.subscription.kind { .zone(zone) } else { .database }
                let content = NotificationContent(
                    of: subject,
                    event: event,
                    values: nil,
                    committedMilliseconds: commit.committed.committedMilliseconds
                )
                let notification = OutgoingNotification(
                    about: subject,
                    position: touched.position,
                    content: content.encoded,
                    isCoalesced: false
                )
                self.post(
                    notification,
                    of: watch,
                    excluding: touched.hasSeveralOrigins ? nil : touched.origin
                )
            }
        }
    }
}

extension Watch {
    /// Whether a query watches this event, and has not fired for the last time.
    fileprivate func isFired(by event: Subscription.FiresOn, at position: Int64) -> Bool {
        guard case .query(_, _, _, let firesOn) = self.subject.subscription.kind else { return false }
        return firesOn.contains(event) && !self.isSpent && self.wasThere(at: position)
    }
}

extension CommittedChange.Kind {
    /// The zone of the change; `nil` for a subscription.
    fileprivate var zone: String? {
        switch self {
        case .record(let record): record.zone
        case .zoneCreated(let zone), .zoneChanged(let zone), .zoneDeleted(let zone): zone
        case .subscriptionSaved, .subscriptionDeleted: nil
        }
    }
}

extension CommittedRecord {
    fileprivate var reason: Notification.Reason {
        guard self.after != nil else { return .recordDeleted }
        return self.before == nil ? .recordCreated : .recordUpdated
    }

    fileprivate var firesOn: Subscription.FiresOn {
        switch self.reason {
        case .recordCreated: .creation
        case .recordUpdated: .update
        case .recordDeleted: .deletion
        }
    }
}
