package import RecordModel
package import StorageContract

/// The meaning of a write, whatever engine executes it.
///
/// A write is executed once for each request ID, and nothing that is refused leaves a trace.
package struct WriteRules: Sendable {
    package let bounds: Bounds
    let liveQuotas: LiveQuotas
    /// The time for which the outcome of a request is kept.
    package let requestIDRetentionSeconds: Int
    /// The maximum time of an asset without a record that names it, and of an upload without a
    /// byte.
    package let assetGraceSeconds: Int

    package init(
        bounds: Bounds,
        quotas: StorageQuotas,
        requestIDRetentionSeconds: Int,
        assetGraceSeconds: Int
    ) {
        self.bounds = bounds
        self.liveQuotas = LiveQuotas(quotas)
        self.requestIDRetentionSeconds = requestIDRetentionSeconds
        self.assetGraceSeconds = assetGraceSeconds
    }

    package var quotas: StorageQuotas { self.liveQuotas.current }

    /// Clocks of clients may run ahead, but an ID from far ahead would stay on disk for as long.
    package static let clockSkewMaxMilliseconds: Int64 = 86_400_000

    package enum Execution: Sendable {
        case finished(Result<[WriteOutcome], StoreError>, isReplay: Bool)
        /// To be executed again from here on, in another transaction.
        case unfinished(WriteRest)
    }

    /// Executes a request, or the rest of it, or finds the outcome of its first execution.
    ///
    /// - Throws: `StorageFailure` when a primitive failed: the request has to be rolled back.
    package func execute(
        _ request: WriteRequest,
        rest: WriteRest? = nil,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> Execution {
        // A request that has begun is not too old.
        if rest == nil,
            let refusal = self.refusal(of: request.requestID, nowMilliseconds: transaction.nowMilliseconds)
        {
            return .finished(.failure(refusal), isReplay: false)
        }
        let database = request.requester.database
        if let stored = try transaction.outcome(of: request.requestID, in: database) {
            let outcomes = try StoredOutcome(request: request, bounds: self.bounds, transaction: transaction)
                .decode(stored)
            return .finished(.success(outcomes), isReplay: true)
        }
        if case .following(let outcomes) = rest {
            try MirrorOutbox(transaction).applyRefreshes(of: database)
            try self.store(outcomes, of: request, in: transaction)
            return .finished(.success(outcomes), isReplay: false)
        }
        let positionsTaken = transaction.positionsTaken
        let result: Result<[WriteOutcome], StoreError>
        switch request.operation {
        case .modifyRecords(let operation):
            let rule = self.rule(of: operation, in: request, isCut: rest?.isCut ?? false, transaction)
            switch try rule.execute(rest) {
            case .finished(let finished): result = finished
            case .unfinished(let turns): return .unfinished(.cascade(turns))
            }
        case .modifyZones(let operation):
            let rule = ModifyZonesRule(
                requester: request.requester,
                operation: operation,
                bounds: self.bounds,
                quotas: self.quotas,
                transaction: transaction
            )
            switch try rule.execute() {
            case .finished(let finished): result = finished
            case .unfinished: return .unfinished(.unsharing)
            }
        case .modifySubscriptions(let operation):
            result = try ModifySubscriptionsRule(
                requester: request.requester,
                operation: operation,
                bounds: self.bounds,
                quotas: self.quotas,
                transaction: transaction
            ).execute()
        case .acceptShares(let operation):
            return try self.joining(request, transaction).accept(operation.tokens, rest?.joining)
        case .requestShareAccess(let operation):
            return try self.joining(request, transaction).requestAccess(operation.tokens, rest?.joining)
        }
        // A request that changed nothing may run again. Its outcome takes no room, so none pile up.
        if case .success(let outcomes) = result {
            // Also after an earlier execution that left shares, and did not learn that it was committed.
            if request.mayLeaveShares, try MirrorOutbox(transaction).hasRefreshes(of: database) {
                return .unfinished(.following(outcomes))
            }
            if transaction.positionsTaken != positionsTaken {
                try self.store(outcomes, of: request, in: transaction)
            }
        }
        return .finished(result, isReplay: false)
    }

    private func rule(
        of operation: ModifyRecords,
        in request: WriteRequest,
        isCut: Bool,
        _ transaction: any WriteTransaction
    ) -> ModifyRecordsRule {
        ModifyRecordsRule(
            requester: request.requester,
            operation: operation,
            bounds: self.bounds,
            quotas: self.quotas,
            transaction: transaction,
            restoration: request.restored.map { .undo($0) },
            isCut: isCut
        )
    }

    private func store(
        _ outcomes: [WriteOutcome],
        of request: WriteRequest,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) {
        let stored = StoredOutcome(request: request, bounds: self.bounds, transaction: transaction)
            .encode(outcomes)
        try transaction.store(outcome: stored, of: request.requestID, in: request.requester.database)
    }

    private func joining(_ request: WriteRequest, _ transaction: any WriteTransaction) -> JoinRule {
        JoinRule(
            requester: request.requester,
            bounds: self.bounds,
            quotas: self.quotas,
            transaction: transaction
        )
    }

    /// IDs older than this may have been forgotten.
    static func oldestRequestMilliseconds(now: Int64, retentionSeconds: Int) -> Int64 {
        now - Int64(retentionSeconds) * 1_000
    }

    private func refusal(of id: RequestID, nowMilliseconds now: Int64) -> StoreError? {
        guard id != RequestID(high: 0, low: 0) else { return .requestIDMissing }
        let oldest = Self.oldestRequestMilliseconds(
            now: now,
            retentionSeconds: self.requestIDRetentionSeconds
        )
        if id.milliseconds < oldest { return .requestIDExpired }
        return id.milliseconds > now + Self.clockSkewMaxMilliseconds ? .requestIDAhead : nil
    }
}

extension WriteRest {
    fileprivate var joining: JoinProgress? {
        if case .joining(let progress) = self { progress } else { nil }
    }
}

extension WriteRequest {
    /// Whether it may take the requester out of shares, which the requester's own database follows.
    fileprivate var mayLeaveShares: Bool {
        guard self.requester.scope == .shared else { return false }
        return switch self.operation {
        case .modifyRecords(let operation): !operation.deletes.isEmpty
        case .modifyZones(let operation): !operation.deletes.isEmpty
        case .modifySubscriptions, .acceptShares, .requestShareAccess: false
        }
    }
}
