import RecordClient
import RecordModel
import Synchronization
import WireProtocol

/// How a worker handles responses.
extension Worker {
    func answered(_ call: Call, _ result: Result<End, ClientError>) {
        let now = ContinuousClock.now
        guard !self.putAside(call, result, at: now) else { return }
        let items = call.takeItems()
        switch call.work {
        case .save(let keys):
            let failure = self.settle(keys, items, result)
            self.conclude(call, failure, at: now, records: keys.count)
        case .delete(let key):
            self.conclude(call, self.settle([key], items, result), at: now, records: 1)
        case .push(let key):
            let failure = self.settle([key], items, result, isAwaited: true)
            self.pushListener.answered(self.recordName(key), failure: failure)
        case .sync(let key):
            let failure = self.settle([key], items, result, isAwaited: true)
            let version = self.state.withLock { $0.keys.keys[key].acknowledged }
            self.userDevices.answered(self.recordName(key), version: version, failure: failure)
        case .fetch(let key): self.read(call, items, result, at: now, wanted: key..<key + 1)
        case .query(let keys): self.read(call, items, result, at: now, wanted: keys)
        case .changes(let zone):
            if case .success(let end) = result {
                // After the last change it starts over, or there would soon be nothing to read.
                let isThrough = items.isEmpty && !end.moreComing
                self.state.withLock { $0.tokens[zone] = isThrough ? [] : end.token }
            } else if case .failure(.refused(let failure)) = result, failure.code == .changeTokenExpired {
                self.state.withLock { $0.tokens[zone] = [] }
            }
            self.read(call, items, result, at: now, wanted: nil)
        case .upload, .download: break
        }
    }

    private func conclude(
        _ call: Call,
        _ failure: String?,
        at time: ContinuousClock.Instant,
        records: Int
    ) {
        if let failure {
            self.failed(call, failure)
        } else {
            self.succeeded(call, at: time, records: records)
        }
    }

    /// Ends a save after its notification has reached the listener or all devices, or never will.
    func arrived(_ call: Call, _ result: Result<ContinuousClock.Instant, MissedNotification>) {
        switch result {
        case .success(let time):
            self.release(call)
            self.succeeded(call, at: time, records: 1)
        case .failure(let missed):
            if missed.isViolation {
                self.undelivered(call)
                self.release(call)
            }
            self.failed(call, missed.reason)
        }
    }

    /// Makes the key of the save writable again; no notification is awaited any more.
    private func release(_ call: Call) {
        guard let key = call.awaitedKey else { return }
        self.state.withLock { $0.keys.ended(key, .notWritten) }
    }

    private func undelivered(_ call: Call) {
        guard let key = call.awaitedKey else { return }
        self.state.withLock { state in
            let id = self.settings.layout.recordID(key, in: state.keys)
            state.violations.add(
                Violation(
                    kind: .undelivered,
                    zone: id.zone.zoneName,
                    recordName: id.recordName,
                    expected: Violation.text(state.keys.keys[key].acknowledged),
                    found: "nothing in \(self.settings.timeout.seconds) s",
                    reading: call.measured.rawValue
                )
            )
        }
    }

    // MARK: Writes

    /// Records the results of writes.
    ///
    /// - Returns: Why not all of them took effect, or `nil` if they did.
    func settle(
        _ keys: [Int],
        _ items: [Item],
        _ result: Result<End, ClientError>,
        isAwaited: Bool = false
    ) -> String? {
        let wholeFate: KeyTable.Fate
        var reason: String?
        switch result {
        case .success:
            wholeFate = .undecided
            if items.count < keys.count { reason = "a response without a result" }
        case .failure(let error):
            reason = FailureReason.text(error)
            wholeFate = error.fate
        }
        let fates: [(fate: KeyTable.Fate, reason: String?)] = items.map { item in
            switch item.outcome {
            case .recordSaved, .deleted: (.written, nil)
            // A delete of an absent record has the wanted effect.
            case .failure(let failure) where failure.code == .unknownItem: (.written, nil)
            case .failure(let failure): (.notWritten, FailureReason.text(failure))
            default: (.undecided, "a response of another kind")
            }
        }
        self.state.withLock { state in
            var answered: Set<Int> = []
            for (item, fate) in zip(items, fates) where Int(item.index) < keys.count {
                answered.insert(Int(item.index))
                state.keys.ended(keys[Int(item.index)], fate.fate, isAwaited: isAwaited)
            }
            for index in keys.indices where !answered.contains(index) {
                state.keys.ended(keys[index], wholeFate)
            }
        }
        return reason ?? fates.lazy.compactMap(\.reason).first
    }

    // MARK: Readings

    private func read(
        _ call: Call,
        _ items: [Item],
        _ result: Result<End, ClientError>,
        at time: ContinuousClock.Instant,
        wanted: Range<Int>?
    ) {
        if case .failure(let error) = result { return self.failed(call, FailureReason.text(error)) }
        var failure: String?
        var records = 0
        var found: Set<Int> = []
        for item in items {
            switch item.outcome {
            case .record(let message):
                records += 1
                guard let record = try? message.record() else {
                    failure = FailureReason.violation
                    continue
                }
                if let key = self.see(record, call) { found.insert(key) }
            case .recordDeleted(let deleted): self.see(deleted.id, version: 0, call)
            case .failure(let refusal) where refusal.code == .unknownItem && wanted != nil: break
            case .failure(let refusal): failure = FailureReason.text(refusal)
            default: failure = "a response of another kind"
            }
        }
        if failure == nil, let wanted {
            for key in wanted where !found.contains(key) {
                let id = self.state.withLock { self.settings.layout.recordID(key, in: $0.keys) }
                self.see(id, version: 0, call)
            }
        }
        self.conclude(call, failure, at: time, records: records)
    }

    /// Compares a record with what is known of it, if it is one of this worker's.
    ///
    /// - Returns: Its key, if it is.
    @discardableResult
    private func see(_ record: Record, _ call: Call) -> Int? {
        guard let owner = KeyTable.owner(of: record.id.recordName), owner.worker == self.number else {
            return nil
        }
        let contents = Contents(record.body)
        guard let contents, contents.key == UInt32(owner.key), contents.worker == UInt32(owner.worker) else {
            self.note(
                Violation(
                    kind: .spoilt,
                    zone: record.id.zone.zoneName,
                    recordName: record.id.recordName,
                    expected: "what was saved",
                    found: "\(record.body.bytes.count) bytes that were not",
                    reading: call.measured.rawValue
                )
            )
            return owner.key
        }
        self.see(record.id, version: contents.version, call)
        return owner.key
    }

    private func see(_ id: RecordID, version: UInt64, _ call: Call) {
        guard self.settings.verifies, let owner = KeyTable.owner(of: id.recordName) else { return }
        self.state.withLock { state in
            guard owner.worker == state.keys.worker, owner.key < state.keys.keys.count,
                let permitted = state.keys.found(version, owner.key, since: call.ticks)
            else { return }
            state.violations.add(
                Violation(
                    id.recordName,
                    zone: id.zone.zoneName,
                    permitted: permitted,
                    found: version,
                    reading: call.measured.rawValue
                )
            )
        }
    }

    func note(_ violation: Violation) {
        guard self.settings.verifies else { return }
        self.state.withLock { $0.violations.add(violation) }
    }
}

extension ClientError {
    /// The result of a write that ended in this way.
    fileprivate var fate: KeyTable.Fate {
        switch self {
        // Nothing was written this time. But it may have been sent and executed before a connection
        // broke.
        case .refused(let failure): failure.code == .internalError ? .undecided : .unknown
        // Never sent.
        case .unreachable, .offline: .notWritten
        case .responseLost, .rejected, .misconfigured, .cancelled, .protocolViolation: .undecided
        case .fileFailed, .closed: .undecided
        }
    }
}
