import RecordModel
import RecordStore
import StorageContract
import Synchronization

extension EngineUnderTest {
    func modifySubscriptions(
        _ saves: [RecordModel.Subscription],
        deletes: [String] = [],
        by requester: Requester? = nil,
        id: RequestID? = nil,
        origin: ChangeOrigin? = nil
    ) async throws(StoreError) -> [WriteOutcome] {
        let operation = ModifySubscriptions(
            scope: (requester ?? self.privately).scope,
            saves: saves,
            deletes: deletes
        )
        return try await self.write(.modifySubscriptions(operation), by: requester, id: id, origin: origin)
            .get()
    }

    func subscriptions(
        _ selection: FetchSubscriptions.Selection = .all,
        by requester: Requester? = nil
    ) async throws(StoreError) -> [SubscriptionOutcome] {
        let result = await withCheckedContinuation { continuation in
            self.store.fetchSubscriptions(selection, for: requester ?? self.privately) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()
    }

    /// IDs of all that a requester has.
    func subscriptionIDs(by requester: Requester? = nil) async throws(StoreError) -> [String] {
        try await self.subscriptions(by: requester).compactMap { $0.subscription?.id }
    }

    // MARK: Listening

    func listener(_ installation: UInt8 = 1, signIn: SignIn? = nil) -> ListenerIdentity {
        ListenerIdentity(
            installation: Array(repeating: installation, count: 16),
            signIn: signIn ?? self.signIn
        )
    }

    func startWatching(_ listener: ListenerIdentity? = nil) async throws(StoreError) -> ListeningStart {
        let result = await withCheckedContinuation { continuation in
            self.store.subscriptions.startWatching(listener ?? self.listener()) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()
    }

    /// Listens for a moment: IDs of the subscriptions that have news.
    func news(for installation: UInt8 = 1) async throws(StoreError) -> [String] {
        let listener = self.listener(installation)
        let start = try await self.startWatching(listener)
        self.store.subscriptions.stopWatching(listener)
        return start.subscriptions.filter(\.hasChanges).map(\.key.id)
    }

    /// Listens for a moment and acknowledges all there is.
    func acknowledgeAll(by installation: UInt8 = 1) async throws(StoreError) {
        let listener = self.listener(installation)
        let start = try await self.startWatching(listener)
        self.store.subscriptions.stopWatching(listener)
        self.store.subscriptions.acknowledge(
            start.subscriptions.map { Acknowledgement(subscription: $0.key, position: $0.position) },
            by: listener
        )
    }

    /// Everything that is reported from now on.
    func reports() -> Reports {
        let reports = Reports()
        self.store.subscriptions.report { reports.append($0) }
        return reports
    }
}

/// What an engine reported, in order.
final class Reports: Sendable {
    private let all = Mutex<[CommittedChanges]>([])

    func append(_ changes: CommittedChanges) { self.all.withLock { $0.append(changes) } }

    /// What came since it was last asked for.
    func take() -> [CommittedChanges] {
        self.all.withLock { all in
            defer { all = [] }
            return all
        }
    }

    /// In short words, such as `+n1`, `n1`, `-n1` for a record that was created, updated and deleted.
    func words() -> [String] { self.take().flatMap(\.changes).map(\.words) }
}

extension CommittedChange {
    var words: String {
        switch self.kind {
        case .record(let record):
            let name = record.zone == notes.zoneName ? record.name : "\(record.zone)/\(record.name)"
            return record.before == nil ? "+\(name)" : record.after == nil ? "-\(name)" : name
        case .zoneCreated(let name): return "+zone \(name)"
        case .zoneChanged(let name): return "zone \(name)"
        case .zoneDeleted(let name): return "-zone \(name)"
        case .subscriptionSaved(let saved): return "+subscription \(saved.key.id)"
        case .subscriptionDeleted(let key): return "-subscription \(key.id)"
        }
    }
}

extension SubscriptionOutcome {
    var subscription: Subscription? {
        guard case .subscription(let subscription) = self else { return nil }
        return subscription
    }
}

/// A subscription to records of a type.
func query(
    _ id: String,
    type: String = "Note",
    _ predicate: RecordModel.Predicate = .all,
    in zone: ZoneID? = nil,
    firesOn: Subscription.FiresOn = .events
) -> Subscription {
    Subscription(id: id, kind: .query(recordType: type, predicate: predicate, zone: zone, firesOn: firesOn))
}

/// A subscription to all that happens in a zone.
func zoneSubscription(_ id: String, _ zone: ZoneID = notes, type: String? = nil) -> Subscription {
    Subscription(id: id, kind: .zone(zone, recordType: type))
}

/// A subscription to all that happens in a database.
func databaseSubscription(_ id: String, type: String? = nil) -> Subscription {
    Subscription(id: id, kind: .database(recordType: type))
}

func isText(_ field: String, _ text: String) -> RecordModel.Predicate {
    .comparison(Comparison(field: field, comparator: .equals, operand: .string(text)))
}
