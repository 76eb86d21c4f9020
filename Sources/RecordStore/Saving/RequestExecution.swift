import RecordModel
import StorageContract

/// A request for a change, from its first job to its reply.
///
///     job ── committed ──────────────────────────▶ reply
///      │ ├── a part committed ──▶ job for the rest
///      │ ├── deletes exceed a bound ──▶ job that makes them in turns
///      │ └── other failures ─────────────────────▶ reply with the error
///      ▼
///     conflict, or outcome unknown ──▶ the same job again, at most `retriesMax` times in a row
///
/// Rules are pure, so after a conflict they run again from their beginning. After an unknown outcome
/// they do as well, and look up the request ID first: if the commit happened, its outcome is stored
/// under the ID and is what the user gets. A request that changed nothing leaves no outcome, and
/// executing it again changes nothing. A part of a request finds done what its first execution did, and
/// goes on to the next part.
final class RequestExecution: Sendable {
    typealias Reply = @Sendable (Result<[WriteOutcome], StoreError>) -> Void

    /// Maximum number of retries of a job that met a conflict, or has an unknown outcome.
    ///
    /// Beyond it users get `storageUnavailable`, and may repeat the request under its ID. The queue of
    /// the engine stands between two executions, so there is no pause besides.
    static let retriesMax = 8

    private let rules: WriteRules
    private let request: WriteRequest
    private let engine: any StorageEngine
    private let counters: WriteCounters
    private let reply: Reply

    init(
        rules: WriteRules,
        request: WriteRequest,
        engine: any StorageEngine,
        counters: WriteCounters,
        reply: @escaping Reply
    ) {
        self.rules = rules
        self.request = request
        self.engine = engine
        self.counters = counters
        self.reply = reply
    }

    func start() {
        self.engine.write(self.job(rest: nil, retriesLeft: Self.retriesMax))
    }

    /// The job that executes the request, or the rest of it.
    private func job(rest: WriteRest?, retriesLeft: Int) -> WriteJob {
        WriteJob(
            requester: self.request.requester,
            records: self.request.operation.records,
            bytes: self.request.bytes,
            // A request that has begun is not too late.
            deadlineMilliseconds: rest == nil ? self.request.deadlineMilliseconds : .max,
            origin: self.request.origin,
            makesRoom: self.request.operation.makesRoom,
            takesTurn: rest?.takesTurn ?? false,
            prefetch: rest == nil && self.engine.prefetches ? self.request.prefetch : nil,
            execute: { transaction throws(StorageFailure) in
                switch try self.rules.execute(self.request, rest: rest, in: transaction) {
                case .finished(let result, let isReplay):
                    .finished {
                        self.counters.count(result, isReplay: isReplay)
                        self.reply(result)
                    }
                case .unfinished(let rest):
                    .unfinished(rest: self.job(rest: rest, retriesLeft: Self.retriesMax))
                }
            },
            fail: { failure in
                switch failure {
                case .storage(.conflict), .storage(.outcomeUnknown):
                    guard retriesLeft > 0 else { return self.reply(.failure(StoreError(failure))) }
                    self.engine.write(self.job(rest: rest, retriesLeft: retriesLeft - 1))
                case .storage(.unexpected):
                    self.counters.countFault()
                    self.reply(.failure(StoreError(failure)))
                case .storage(.exceeds(let bound, _)) where rest == nil && self.request.mayBeCut(by: bound):
                    self.engine.write(self.job(rest: .cutting, retriesLeft: Self.retriesMax))
                case .overloaded, .shuttingDown, .deadlinePassed, .diskFull, .storage(.unavailable),
                    .storage(.exceeds):
                    self.reply(.failure(StoreError(failure)))
                }
            }
        )
    }
}

extension WriteRequest {
    /// Whether it may go in turns when it costs more than one transaction may: deletes of one's own, as
    /// nothing but another request of the owner can come in between.
    fileprivate func mayBeCut(by bound: WorkBound) -> Bool {
        guard bound == .indexEntries || bound == .storedBytes, self.requester.scope == .private,
            self.restored == nil, case .modifyRecords(let operation) = self.operation
        else { return false }
        return operation.saves.isEmpty
    }

    /// Whether the request was executed before, and the records that it changes.
    fileprivate var prefetch: Prefetch {
        var records: [Prefetch.Records] = []
        if case .modifyRecords(let operation) = self.operation {
            let ids = operation.saves.map(\.id) + operation.deletes
            records = Prefetch.Records.named(ids, by: self.requester)
        }
        let request = Prefetch.Request(database: self.requester.database, id: self.requestID)
        return Prefetch(records: records, request: request)
    }
}

extension WriteRequest.Operation {
    /// At least one, so that a queue of empty requests ends somewhere.
    fileprivate var records: Int {
        switch self {
        case .modifyRecords(let operation): max(1, operation.saves.count + operation.deletes.count)
        case .modifyZones(let operation): max(1, operation.saves.count + operation.deletes.count)
        case .modifySubscriptions(let operation):
            // Checking and encoding two comparisons takes as long as a record.
            max(1, operation.saves.count + operation.deletes.count + operation.comparisonCount / 2)
        case .acceptShares(let operation): max(1, operation.tokens.count)
        case .requestShareAccess(let operation): max(1, operation.tokens.count)
        }
    }

    /// Whether it deletes only.
    fileprivate var makesRoom: Bool {
        switch self {
        case .modifyRecords(let operation): operation.saves.isEmpty
        case .modifyZones(let operation): operation.saves.isEmpty
        case .modifySubscriptions(let operation): operation.saves.isEmpty
        case .acceptShares, .requestShareAccess: false
        }
    }
}
