import RecordClient
import RecordModel
import Synchronization
import WireProtocol

/// The state of the server before the load: empty zones, subscriptions, and one record per key.
struct Preparation: Sendable {
    let clients: Clients

    private var plan: LoadPlan { self.clients.plan }

    /// Makes zones, subscriptions and records in every user's private database.
    func run() async throws(LoadFailure) {
        try await self.eachUser { user throws(LoadFailure) in
            let client = self.clients.worker(of: user).client
            try await self.removeZones(client, within: .seconds(120))
            try await client.require(
                .modifyZones(ModifyZones(scope: .private, saves: self.plan.layout.zones)),
                to: "create zones"
            )
            try await self.subscribe(client)
        }
        try await self.fill()
    }

    /// Removes the zones of `run` and the load, with their subscriptions.
    func undo() async throws(LoadFailure) {
        try await self.eachUser { user throws(LoadFailure) in
            // A server that is gone gets less time than a slow one.
            try await self.removeZones(self.clients.worker(of: user).client, within: .seconds(30))
        }
    }

    /// The current token of each zone's feed, by user.
    ///
    /// The devices' zone is the last.
    func tokens() async throws(LoadFailure) -> [[[UInt8]]] {
        var tokens: [[[UInt8]]] = []
        for user in 0..<self.clients.users {
            var ofUser: [[UInt8]] = []
            for zone in self.plan.layout.zones {
                do throws(ClientError) {
                    let end = try await self.clients.worker(of: user).client.end(
                        of: .fetchToken(FetchToken(scope: .private, zone: zone)),
                        timeout: .seconds(60)
                    )
                    ofUser.append(end.token)
                } catch {
                    throw LoadFailure(error, to: "fetch a token")
                }
            }
            tokens.append(ofUser)
        }
        return tokens
    }

    private func eachUser(
        _ body: @escaping @Sendable (Int) async throws(LoadFailure) -> Void
    ) async throws(LoadFailure) {
        for user in 0..<self.clients.users { try await body(user) }
    }

    private func removeZones(
        _ client: RecordClient,
        within timeout: Duration
    ) async throws(LoadFailure) {
        try await client.require(
            .modifyZones(ModifyZones(scope: .private, saves: [], deletes: self.plan.layout.zones)),
            to: "delete the zones of the run",
            // The zone to delete does not exist.
            orEnds: [.unknownItem, .zoneNotFound],
            within: timeout
        )
    }

    private func subscribe(_ client: RecordClient) async throws(LoadFailure) {
        var subscriptions: [Subscription] = []
        if self.plan.mix.has(.push) {
            subscriptions.append(
                Subscription(
                    id: self.plan.layout.pushSubscription,
                    kind: .query(
                        recordType: KeyTable.Kind.push.recordType,
                        predicate: .all,
                        zone: self.plan.layout.pushZone,
                        firesOn: [.creation, .update]
                    )
                )
            )
        }
        if self.plan.mix.has(.sync) {
            let kind = Subscription.Kind.zone(self.plan.layout.syncZone, recordType: nil)
            subscriptions.append(Subscription(id: self.plan.layout.syncSubscription, kind: kind))
        }
        guard !subscriptions.isEmpty else { return }
        try await client.require(
            .modifySubscriptions(ModifySubscriptions(scope: .private, saves: subscriptions)),
            to: "subscribe"
        )
    }

    /// Saves the first version of every ordinary record.
    private func fill() async throws(LoadFailure) {
        let failure = await withTaskGroup(of: LoadFailure?.self) { group in
            for worker in self.clients.workers { group.addTask { await worker.fill() } }
            return await group.reduce(nil) { $0 ?? $1 }
        }
        if let failure { throw failure }
    }
}

extension Worker {
    /// Saves the first version of every ordinary record of this worker.
    ///
    /// - Returns: Why it failed, or `nil`.
    fileprivate func fill() async -> LoadFailure? {
        let byZone = Dictionary(grouping: 0..<self.settings.plainKeys) {
            self.settings.layout.zoneNumber(of: $0)
        }
        // Well below the limits of a request.
        let step = max(1, min(200, 1_000_000 / self.settings.recordBytes))
        for keys in byZone.values {
            for start in stride(from: 0, to: keys.count, by: step) {
                let part = Array(keys[start..<min(start + step, keys.count)])
                let saves = self.state.withLock { state in part.map { self.recordSave($0, &state) } }
                do throws(LoadFailure) {
                    try await self.client.require(Self.modify(saves), to: "save the records of the run")
                } catch let failure {
                    return failure
                }
                self.state.withLock { state in for key in part { state.keys.ended(key, .written) } }
            }
        }
        return nil
    }
}
