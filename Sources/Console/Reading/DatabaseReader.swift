import RecordModel
import RecordStore
import StorageContract

/// Reads one database as its requester.
///
/// A call that meets a busy store, or an index that is being built, is made again for a few seconds.
struct DatabaseReader: Sendable {
    let store: Store
    let requester: Requester
    /// The maximum time for which a call is repeated.
    var timeout = Duration.seconds(3)

    func with(timeout: Duration) -> DatabaseReader {
        var reader = self
        reader.timeout = timeout
        return reader
    }

    func page(_ read: QueryRead) async throws(StoreError) -> (records: [Record], end: QueryPageResult) {
        let gathered = GatheredRecords()
        let end = try await self.retrying { reply in
            self.store.query(read, for: self.requester, into: gathered, reply: reply)
        }
        return (gathered.take().records, end)
    }

    func fetch(_ ids: [RecordID]) async throws(StoreError) -> [ReadOutcome] {
        guard !ids.isEmpty else { return [] }
        return try await self.retrying { reply in
            self.store.fetchRecords(ids, desiredKeys: nil, for: self.requester, reply: reply)
        }
    }

    func changes(_ read: FeedRead) async throws(StoreError) -> (items: FeedItems, end: FeedPageEnd) {
        let gathered = GatheredRecords()
        let end = try await self.retrying { reply in
            self.store.changes(read, for: self.requester, into: gathered, reply: reply)
        }
        return (gathered.take(), end)
    }

    func token(of zone: ZoneID) async throws(StoreError) -> [UInt8] {
        try await self.retrying { reply in self.store.token(of: zone, for: self.requester, reply: reply) }
    }

    func zones() async throws(StoreError) -> [Zone] {
        let outcomes = try await self.retrying { reply in
            self.store.fetchZones(.all, for: self.requester, reply: reply)
        }
        return outcomes.compactMap { if case .zone(let zone) = $0 { zone } else { nil } }
    }

    func zoneExtents(after position: Int64?, limit: Int) async throws(StoreError) -> ZoneExtentPage {
        try await self.retrying { reply in
            self.store.zoneExtents(after: position, limit: limit, for: self.requester, reply: reply)
        }
    }

    func assets(_ hashes: [[UInt8]], of record: RecordID) async throws(StoreError) -> [StoredAsset] {
        try await self.retrying { reply in
            self.store.locateAssets(hashes, of: record, for: self.requester, reply: reply)
        }
    }

    /// Everything that is known of a record.
    ///
    /// An operator looks at public and private databases, and sees every user. In a shared database
    /// the user sees themselves.
    func explanation(of id: RecordID) async throws(StoreError) -> RecordExplanation {
        var requester = self.requester
        requester.isOperator = requester.scope != .shared
        let asked = requester
        return try await self.retrying { reply in self.store.explain(id, for: asked, reply: reply) }
    }

    func tryOut(_ read: SubscriptionTrialRead) async throws(StoreError) -> SubscriptionTrial {
        try await self.retrying { reply in self.store.tryOut(read, for: self.requester, reply: reply) }
    }

    private typealias Reply<Value> = @Sendable (Result<Value, StoreError>) -> Void

    private func retrying<Value: Sendable>(
        _ call: (@escaping Reply<Value>) -> Void
    ) async throws(StoreError) -> Value {
        let end = ContinuousClock.now + self.timeout
        while true {
            let result = await withCheckedContinuation { continuation in
                call { continuation.resume(returning: $0) }
            }
            switch result {
            case .success(let value): return value
            case .failure(let error):
                guard case .after(let milliseconds) = error.row.retry, ContinuousClock.now < end else {
                    throw error
                }
                // A request that its browser gave up is not waited for.
                do { try await Task.sleep(for: .milliseconds(max(20, Int64(milliseconds)))) } catch {
                    throw .cancelled
                }
            }
        }
    }
}
