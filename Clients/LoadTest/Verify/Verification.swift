import RecordClient
import RecordModel
import Synchronization
import WireProtocol

/// Reads everything back when no request is in flight, and compares it with the acknowledged
/// writes.
struct Verification: Sendable {
    /// The result.
    struct Verdict: Codable, Sendable {
        /// Records that were compared, each by three readings.
        var records = 0
        /// Of these, records with a last write of unknown effect: either state is right.
        var uncertain = 0
        /// The number of times that a follower came to the end of a feed during the load.
        var feedEnds = 0
        var violations = Violations()

        var isGood: Bool { self.violations.count == 0 }
    }

    /// A name in one zone, and its permitted versions.
    private struct Expectation {
        let key: KeyTable.Key
        /// Whether a write was acknowledged after the token of the start.
        let isChanged: Bool
    }

    private static let recordsPerFetch = 200

    let clients: Clients
    /// Tokens of the start, by user and zone.
    let tokens: [[[UInt8]]]
    /// Ticks of each worker's keys when the tokens were taken.
    let ticks: [UInt64]

    /// The same as `run`, or `nil` after a signal.
    func runUnlessInterrupted() async throws(LoadFailure) -> Verdict? {
        do throws(LoadFailure) {
            return try await Interruption.cancelling { () async throws(LoadFailure) -> Verdict in
                try await self.run()
            }
        } catch {
            guard error.code == .interrupted else { throw error }
            return nil
        }
    }

    func run() async throws(LoadFailure) -> Verdict {
        var verdict = Verdict()
        for worker in self.clients.workers { verdict.violations.add(worker.state.withLock { $0.violations }) }
        for user in 0..<self.clients.users {
            let expectations = self.expectations(of: user)
            let client = self.clients.worker(of: user).client
            for (number, zone) in self.clients.plan.layout.zones.enumerated() {
                let inZone = expectations[zone] ?? [:]
                verdict.records += inZone.count
                verdict.uncertain += inZone.values.reduce(0) { $0 + ($1.key.uncertain.isEmpty ? 0 : 1) }
                let comparison = ZoneComparison(zone: zone.zoneName, expected: inZone.mapValues(\.key))
                let whole = try await Self.feed(client, zone, from: [])
                comparison.compare(whole, reading: "feed", &verdict.violations)
                try await self.compareChanges(
                    of: client,
                    zone,
                    from: self.tokens[user][number],
                    inZone,
                    &verdict.violations
                )
                let fetched = try await Self.fetch(client, zone, Array(inZone.keys))
                comparison.compare(fetched, reading: "fetch", &verdict.violations)
            }
        }
        return verdict
    }

    private func compareChanges(
        of client: RecordClient,
        _ zone: ZoneID,
        from token: [UInt8],
        _ expectations: [String: Expectation],
        _ violations: inout Violations
    ) async throws(LoadFailure) {
        let reading = "feed since the start"
        do throws(LoadFailure) {
            let news = try await Self.feed(client, zone, from: token)
            let changed = expectations.filter(\.value.isChanged).mapValues(\.key)
            ZoneComparison(zone: zone.zoneName, expected: changed, others: expectations.mapValues(\.key))
                .compare(news, reading: reading, &violations)
        } catch {
            guard error.refusal == .changeTokenExpired else { throw error }
            violations.add(Violation(expiredTokenIn: zone.zoneName, reading: reading))
        }
    }

    /// By zone and name.
    private func expectations(of user: Int) -> [ZoneID: [String: Expectation]] {
        var expectations: [ZoneID: [String: Expectation]] = [:]
        let layout = self.clients.plan.layout
        for worker in self.clients.workers(of: user) {
            let keys = worker.state.withLock { $0.keys }
            let ticks = self.ticks[worker.number - self.clients.plan.process * self.clients.plan.connections]
            for (number, key) in keys.keys.enumerated() where key.changedAt > 0 {
                let id = layout.recordID(number, in: keys)
                expectations[id.zone, default: [:]][id.recordName] = Expectation(
                    key: key,
                    isChanged: key.writtenAt > ticks
                )
            }
        }
        return expectations
    }

    // MARK: Readings

    /// All entries of a feed from a token to its end, in order.
    private static func feed(
        _ client: RecordClient,
        _ zone: ZoneID,
        from token: [UInt8]
    ) async throws(LoadFailure) -> [ZoneComparison.Found] {
        var found: [ZoneComparison.Found] = []
        var token = token
        while true {
            let page = FetchChanges(
                scope: .private,
                zone: zone,
                token: token,
                limit: UInt32(Bounds.feedPageMax)
            )
            let (items, end) = try await client.page(
                of: .fetchChanges(page),
                to: "read the feed of \(zone.zoneName)"
            )
            for item in items {
                switch item.outcome {
                case .record(let message): found.append(ZoneComparison.Found(try message.read()))
                case .recordDeleted(let deleted):
                    found.append(ZoneComparison.Found(name: deleted.id.recordName, version: 0))
                default: break
                }
            }
            guard end.moreComing else { return found }
            token = end.token
        }
    }

    private static func fetch(
        _ client: RecordClient,
        _ zone: ZoneID,
        _ names: [String]
    ) async throws(LoadFailure) -> [ZoneComparison.Found] {
        var found: [ZoneComparison.Found] = []
        for start in stride(from: 0, to: names.count, by: self.recordsPerFetch) {
            let part = names[start..<min(start + self.recordsPerFetch, names.count)]
            let ids = part.map { RecordID(zone: zone, recordName: $0) }
            let (items, _) = try await client.page(
                of: .fetchRecords(FetchRecords(scope: .private, ids: ids)),
                to: "fetch records of \(zone.zoneName)"
            )
            for item in items {
                if case .record(let message) = item.outcome {
                    found.append(ZoneComparison.Found(try message.read()))
                }
            }
        }
        return found
    }
}

extension RecordClient {
    /// Performs a reading of the verification, and waits for all of it.
    ///
    /// A server without its store, or with too much to do, names the time of the next attempt.
    func page(
        of operation: Operation,
        to purpose: String
    ) async throws(LoadFailure) -> (items: [Item], end: End) {
        for _ in 1..<Self.triesMax {
            do throws(ClientError) {
                return try await self.response(to: operation, .seconds(120))
            } catch {
                guard let milliseconds = error.retryMilliseconds else {
                    throw LoadFailure(error, to: purpose)
                }
                try? await Task.sleep(for: .milliseconds(milliseconds))
            }
        }
        do throws(ClientError) {
            return try await self.response(to: operation, .seconds(120))
        } catch {
            throw LoadFailure(error, to: purpose)
        }
    }

    /// Performs a reading once, and waits for all of it.
    func response(
        to operation: Operation,
        _ timeout: Duration
    ) async throws(ClientError) -> (items: [Item], end: End) {
        let call = Call(due: .now, work: .fetch(0), operation: nil, ticks: 0)
        let result: Result<End, ClientError> = await withCheckedContinuation { continuation in
            self.start(
                operation,
                requestTimeout: timeout / 2,
                resourceTimeout: timeout,
                items: { call.received($0) },
                end: { continuation.resume(returning: $0) }
            )
        }
        return (call.takeItems(), try result.get())
    }
}
