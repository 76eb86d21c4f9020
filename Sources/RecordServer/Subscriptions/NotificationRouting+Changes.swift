import RecordModel
import RecordStore
import WireProtocol

// From what a transaction changed to notifications. A query's subscription has one for each record; a zone's and a database's
// have one for each transaction, about all that it changed there.
extension NotificationRouting {
    /// What a transaction does to one subscription of a zone or a database.
    private struct Touched {
        var watch: Watch
        var position: Int64
        var origin: UInt64
        /// Then nobody is left out: each gets word of what another did.
        var hasSeveralOrigins = false
    }

    /// What is found out once a transaction.
    private struct Known {
        struct Question: Hashable {
            var requester: Requester
            var recordType: String
            var createdBy: String
        }

        var permissions: [Question: Bool] = [:]
        /// Places in `touched` by number.
        var places: [UInt64: Int] = [:]
        var touched: [Touched] = []
    }

    mutating func committed(_ committed: CommittedChanges, mayRead: MayRead) {
        var known = Known()
        for change in committed.changes {
            switch change.kind {
            case .subscriptionSaved(let watched):
                self.saved(watched, in: change.environment)
            case .subscriptionDeleted(let key):
                self.deleted(key, in: change.environment)
            case .zoneCreated(let zone), .zoneChanged(let zone), .zoneDeleted(let zone):
                self.touch(change, ofType: nil, zone: zone, &known)
            case .record(let record):
                for watch in self.match(change, record, mayRead, &known) {
                    self.fire(watch, change, record, at: committed.committedMilliseconds)
                }
                self.touch(change, ofType: record.recordType, zone: record.zone, &known)
            }
        }
        self.fireTouched(known.touched, at: committed.committedMilliseconds)
        self.skipped(committed.incomplete)
    }

    /// The details of transactions were dropped: every subscription of the databases has news.
    mutating func skipped(_ databases: [DatabaseID: Int64]) {
        for (database, position) in databases {
            var watches: [Watch] = []
            self.index.forEach(in: database) { watches.append($0) }
            for watch in watches {
                let news = watch.subject.news(upTo: position, isCoalesced: true)
                self.post(news, of: watch, excluding: 0)
            }
        }
    }

    // MARK: - Queries

    /// The queries that a change of a record fires, for those who may read it.
    private mutating func match(
        _ change: CommittedChange,
        _ record: CommittedRecord,
        _ mayRead: MayRead,
        _ known: inout Known
    ) -> [Watch] {
        guard let stored = record.after ?? record.before else { return [] }
        let firesOn = record.firesOn
        var candidates: [Watch] = []
        self.index.forEachQuery(ofType: stored.recordType, inZone: record.zone, of: change.database) {
            watch in
            guard case .query(_, _, _, let wanted) = watch.subject.subscription.kind,
                wanted.contains(firesOn), !watch.isSpent
            else { return }
            candidates.append(watch)
        }
        guard !candidates.isEmpty else { return [] }
        let named = NamedRecord(name: record.name, stored: stored)
        let shape = self.shapes.shape(
            ofType: stored.recordType,
            in: change.environment,
            record.definitions
        )
        return candidates.filter { watch in
            watch.matches(named, shape: shape) && Self.mayRead(stored, watch, mayRead, &known)
        }
    }

    private static func mayRead(
        _ record: StoredRecord,
        _ watch: Watch,
        _ mayRead: MayRead,
        _ known: inout Known
    ) -> Bool {
        guard watch.subject.scope == .public else { return true }
        let requester = Requester(
            database: watch.subject.key.database,
            scope: .public,
            environment: watch.audience.signIn.environment,
            userRecordName: watch.subject.key.owner
        )
        let question = Known.Question(
            requester: requester,
            recordType: record.recordType,
            createdBy: record.system.createdBy
        )
        if let answer = known.permissions[question] { return answer }
        let answer = mayRead(question.recordType, question.createdBy, requester)
        known.permissions[question] = answer
        return answer
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
        _ known: inout Known
    ) {
        self.index.forEachChange(ofType: recordType, inZone: zone, of: change.database) { watch in
            let number = watch.subject.number
            guard let place = known.places[number] else {
                known.places[number] = known.touched.count
                known.touched.append(
                    Touched(watch: watch, position: change.position, origin: change.origin)
                )
                return
            }
            known.touched[place].position = change.position
            if known.touched[place].origin != change.origin {
                known.touched[place].hasSeveralOrigins = true
            }
        }
    }

    private mutating func fireTouched(_ touched: [Touched], at milliseconds: Int64) {
        for touched in touched where touched.watch.isListenedFor {
            let subject = touched.watch.subject
            let event: Notification.Event =
                if case .zone(let zone, _) = subject.subscription.kind { .zone(zone) } else { .database }
            let content = NotificationContent(
                of: subject,
                event: event,
                values: nil,
                committedMilliseconds: milliseconds
            )
            let notification = OutgoingNotification(
                about: subject,
                position: touched.position,
                content: content.encoded,
                isCoalesced: false
            )
            self.post(
                notification,
                of: touched.watch,
                excluding: touched.hasSeveralOrigins ? 0 : touched.origin
            )
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
