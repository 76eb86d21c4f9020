import RecordModel
import StorageContract

/// The meaning of `modify_subscriptions` (`Protocol/README.md`, section 5.10).
///
/// Each item is validated by itself, in order, and sees those before it.
struct ModifySubscriptionsRule {
    let requester: Requester
    let operation: ModifySubscriptions
    let bounds: Bounds
    let quotas: StorageQuotas
    let transaction: any WriteTransaction

    /// One outcome an item, saves first.
    func execute() throws(StorageFailure) -> Result<[WriteOutcome], StoreError> {
        do {
            try Access.checkWriting(by: self.requester)
            try self.checkShape()
        } catch {
            return .failure(error)
        }
        guard let owner = self.requester.userRecordName else { return .failure(.notSignedIn) }
        var outcomes: [WriteOutcome] = []
        if !self.operation.saves.isEmpty {
            var room = SubscriptionRoom(
                besides: try self.transaction.subscriptions(of: owner, in: self.requester.database)
            )
            for subscription in self.operation.saves {
                outcomes.append(try self.save(subscription, of: owner, &room))
            }
        }
        for id in self.operation.deletes { outcomes.append(try self.delete(id, of: owner)) }
        return .success(outcomes)
    }

    private func refusal(ofGrowth bytes: Int) throws(StorageFailure) -> StoreError? {
        try self.transaction.refusal(
            ofGrowth: bytes,
            in: self.requester.database,
            under: self.quotas
        )
    }

    private func save(
        _ given: Subscription,
        of owner: String,
        _ room: inout SubscriptionRoom
    ) throws(StorageFailure) -> WriteOutcome {
        let subscription = given.canonical(for: self.requester)
        do {
            try SubscriptionRules.check(subscription, scope: self.requester.scope)
        } catch {
            return .failed(error)
        }
        var zone: ZoneKey?
        if let id = subscription.zone {
            guard Access.isOwn(id, of: self.requester),
                let key = try self.transaction.zone(named: id.zoneName, in: self.requester.database)
            else { return .failed(.zoneMissing) }
            zone = key
        }
        if let refusal = try self.refusalOfType(subscription) { return .failed(refusal) }
        let existing = try self.transaction.subscription(
            subscription.id,
            of: owner,
            in: self.requester.database
        )
        let definition = SubscriptionCoding.definition(of: subscription.kind)
        let isRedefined = existing?.definition != definition
        if isRedefined,
            let other = try self.transaction.subscriptionID(
                defined: definition,
                of: owner,
                in: self.requester.database
            )
        {
            return .failed(.subscriptionDuplicate(of: other))
        }
        var roomLeft = room
        guard roomLeft.replace(existing?.definition, by: definition) else {
            return .failed(.subscriptionLimit)
        }
        var stored = StoredSubscription(
            number: existing?.number ?? 0,
            key: SubscriptionKey(
                database: self.requester.database,
                owner: owner,
                id: subscription.id,
                position: 0
            ),
            createdPosition: 0,
            zone: zone,
            definition: definition,
            info: subscription.info.map { SubscriptionCoding.bytes(of: $0) }
        )
        let growth =
            RowBytes.subscription(stored) - (existing.map { RowBytes.subscription($0) } ?? 0)
            + RowBytes.outcome(RowBytes.outcomeItemMax)
        if let refusal = try self.refusal(ofGrowth: growth) { return .failed(refusal) }
        room = roomLeft
        let position = try self.transaction.takePosition(in: self.requester.database)
        stored.key.position = position
        stored.createdPosition = isRedefined ? position : existing?.createdPosition ?? position
        try self.transaction.save(stored, replacing: existing)
        let saved = WatchedSubscription(
            key: stored.key,
            subscription: subscription,
            hasChanges: false,
            position: position
        )
        self.transaction.note(.subscriptionSaved(saved), at: position, in: self.requester.database)
        return .subscriptionSaved(subscription)
    }

    private func delete(_ id: String, of owner: String) throws(StorageFailure) -> WriteOutcome {
        let database = self.requester.database
        guard let stored = try self.transaction.subscription(id, of: owner, in: database) else {
            return .failed(.subscriptionMissing)
        }
        try self.transaction.drop(stored)
        return .deleted
    }

    /// Judges the record type and the predicate by the schema, as a query's are.
    private func refusalOfType(_ subscription: Subscription) throws(StorageFailure) -> StoreError? {
        guard let type = subscription.recordType, type != UserRecord.type else { return nil }
        let environment = self.requester.environment
        let definitions = try self.transaction.fields(ofType: type, in: environment)
        if !definitions.isTypeDefined, try self.transaction.isSchemaFrozen(in: environment) {
            return .newTypeInProduction(type)
        }
        guard case .query(_, let predicate, _, _) = subscription.kind else { return nil }
        do {
            _ = try QueryCheck.check(predicate, type: QueryableType(definitions))
            return nil
        } catch {
            return error
        }
    }

    private func checkShape() throws(StoreError) {
        let count = self.operation.saves.count + self.operation.deletes.count
        guard count <= self.bounds.requestItemsMax else { throw .tooManyItems(count) }
        guard self.operation.comparisonCount <= self.bounds.requestComparisonsMax else {
            throw .tooMuchWork(.comparisons)
        }
        let ids = Set(self.operation.saves.map(\.id)).union(self.operation.deletes)
        guard ids.count == count else { throw .duplicateSubscription }
    }
}

/// The room for more subscriptions of a user in a database.
private struct SubscriptionRoom {
    private var countLeft = Bounds.subscriptionsMax
    /// The bytes of definitions.
    private var bytesLeft = Bounds.subscriptionsBytesMax

    init(besides stored: [StoredSubscription]) {
        self.countLeft -= stored.count
        for stored in stored { self.bytesLeft -= stored.definition.count }
    }

    /// Returns whether there is room for a definition in the place of another, or of none.
    mutating func replace(_ existing: [UInt8]?, by definition: [UInt8]) -> Bool {
        if existing == nil { self.countLeft -= 1 }
        let growth = definition.count - (existing?.count ?? 0)
        self.bytesLeft -= growth
        return self.countLeft >= 0 && (self.bytesLeft >= 0 || growth <= 0)
    }
}

extension ModifySubscriptions {
    /// Comparisons of all conditions that are saved.
    var comparisonCount: Int { self.saves.reduce(0) { $0 + $1.kind.comparisonCount } }
}

extension Subscription.Kind {
    /// Comparisons of its condition.
    var comparisonCount: Int {
        guard case .query(_, let predicate, _, _) = self else { return 0 }
        return predicate.comparisonCount
    }
}
