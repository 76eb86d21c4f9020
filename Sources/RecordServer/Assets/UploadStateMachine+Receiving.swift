import NIOCore
import RecordModel
import StorageContract

// Bytes of an upload, from the frame to the disk; and its end.
extension UploadStateMachine {
    /// Bytes arrived, with their payload size.
    mutating func received(_ data: AssetBytes, now: NIODeadline) -> OnData {
        self.whileReceiving(orElse: .ignore) { $0.received(data, now: now) }
    }

    /// The batch interval is over.
    mutating func writeDue(now: NIODeadline) -> Write? {
        self.whileReceiving(orElse: nil) { receiving in
            // Enough bytes may have arrived since, so that they were handed over at once.
            guard case .scheduled(let batch) = receiving.lane else { return nil }
            return receiving.write(batch, now: now)
        }
    }

    /// The lane has written a batch.
    ///
    /// - Parameters:
    ///   - durable: Items and their durable bytes.
    ///   - due: An item with enough written bytes to be made durable.
    ///   - now: The time.
    /// - Returns: The next action; `nil` if there is none.
    mutating func written(
        durable: [(item: Int, bytes: Int64)],
        due: Int?,
        now: NIODeadline
    ) -> OnWritten? {
        self.whileReceiving(orElse: nil) { receiving in
            let next = receiving.lane.batch
            for (item, bytes) in durable { receiving.progress.becameDurable(item: item, bytes: bytes) }
            let syncs = due.flatMap { receiving.beginSync(now: now) ? $0 : nil }
            return OnWritten(
                grants: receiving.progress.wantsBytes,
                syncs: syncs,
                report: durable.isEmpty ? nil : receiving.reportWhenDue(now: now),
                writes: receiving.write(next, now: now)
            )
        }
    }

    /// The lane could not write a batch: later batches are dropped.
    mutating func writeFailed() {
        self.whileReceiving(orElse: ()) { $0.lane = .idle }
    }

    /// A grant reopened the window: the timeout of a silent client starts anew.
    mutating func windowOpened(now: NIODeadline) {
        self.whileReceiving(orElse: ()) { $0.receivedAt = now }
    }

    /// Notes that the written bytes of an item are durable.
    mutating func becameDurable(
        item: Int,
        bytes: Int64,
        isMoreDue: Bool,
        now: NIODeadline
    ) -> OnDurable? {
        self.whileReceiving(orElse: nil) { receiving in
            receiving.isSyncing = false
            receiving.progress.becameDurable(item: item, bytes: bytes)
            let report = receiving.reportWhenDue(now: now)
            return OnDurable(report: report, syncsAgain: isMoreDue && receiving.beginSync(now: now))
        }
    }

    /// Notes that the written bytes of an item could not be made durable.
    mutating func syncFailed() {
        self.whileReceiving(orElse: ()) { $0.isSyncing = false }
    }

    /// The registry has an asset as complete.
    mutating func completed(item: Int, now: NIODeadline) -> OnCompleted {
        self.whileReceiving(orElse: .ignore) { receiving in
            guard !receiving.progress.completed(item: item) else { return .finish }
            return receiving.reportWhenDue(now: now).map { .report($0) } ?? .ignore
        }
    }

    /// The file of an item cannot be read or written.
    mutating func fileFailed(item: Int, isDiskFull: Bool) -> OnFileFailed {
        guard isDiskFull else { return .fail }
        switch consume self {
        case .receiving(let receiving):
            guard receiving.held.statuses[item].number != nil else {
                self = .receiving(receiving)
                return .fail
            }
            self = .givingUp(receiving.held, incomplete: receiving.incompleteNumbers)
            return .giveUp
        case .preparing(let held, .recovering):
            self = .preparing(held, .recovering)
            return .fail
        case .givingUp(let held, let incomplete):
            self = .givingUp(held, incomplete: incomplete)
            return .ignore
        case .ended:
            self = .ended
            return .ignore
        case .beginning: preconditionFailure("a file of an upload that has not begun")
        case .preparing: preconditionFailure("a file of an upload that has not begun")
        }
    }

    /// Checks whether the upload has timed out.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - mayReceive: Whether the client may send.
    ///   - silence: The timeouts of a silent client.
    /// - Returns: The next action.
    borrowing func timerFired(now: NIODeadline, mayReceive: Bool, silence: Silence) -> OnTimer {
        switch self {
        case .beginning: return .lookAtDeadline
        case .preparing: return .tellThatItLives
        case .receiving(let receiving):
            guard receiving.progress.wantsBytes else { return .ignore }
            let isContested = receiving.held.isContested
            let silenceMax = silence.longest(isContested: isContested)
            guard mayReceive else { return .look(in: silenceMax) }
            let silent = now - receiving.receivedAt
            return silent < silenceMax ? .look(in: silenceMax - silent) : .fail(isContested: isContested)
        case .givingUp: return .ignore
        case .ended: return .ignore
        }
    }

    /// The stream ends, or the connection is gone.
    mutating func ended() -> OnEnd {
        switch consume self {
        case .beginning:
            self = .ended
            return OnEnd(batch: UploadBatch(), ticket: nil, numbers: [], touches: [])
        case .preparing(let held, _):
            self = .ended
            return OnEnd(held)
        case .receiving(let receiving):
            self = .ended
            return OnEnd(receiving.held, batch: receiving.lane.batch, touches: receiving.incompleteNumbers)
        case .givingUp(let held, let incomplete):
            self = .ended
            return OnEnd(held, touches: incomplete)
        case .ended: preconditionFailure("an upload ended twice")
        }
    }

    /// Handles an event of a receiving upload; the event is ignored if the upload is giving up.
    private mutating func whileReceiving<Result>(
        orElse nothing: Result,
        _ body: (inout Receiving) -> Result
    ) -> Result {
        switch consume self {
        case .receiving(var receiving):
            let result = body(&receiving)
            self = .receiving(receiving)
            return result
        case .givingUp(let held, let incomplete):
            self = .givingUp(held, incomplete: incomplete)
            return nothing
        case .ended:
            self = .ended
            return nothing
        case .beginning: preconditionFailure("bytes for which nothing was granted")
        case .preparing: preconditionFailure("bytes for which nothing was granted")
        }
    }
}

/// Bytes of a frame.
struct AssetBytes {
    let item: UInt32
    let offset: Int64
    let bytes: ByteBuffer
    /// Of the frame.
    let payloadBytes: Int
}

extension UploadStateMachine.OnEnd {
    fileprivate init(
        _ held: UploadStateMachine.Held,
        batch: UploadBatch = UploadBatch(),
        touches: [AssetNumber] = []
    ) {
        self.init(batch: batch, ticket: held.turn?.ticket, numbers: held.numbers, touches: touches)
    }
}

extension UploadStateMachine.Receiving {
    /// The batch size at which it is written at once.
    private static let batchBytes = 512 * 1_024
    /// Maximum interval between two syncs, if there are enough bytes: a slow client sees progress.
    private static let durableInterval = TimeAmount.seconds(1)
    private static let touchInterval = TimeAmount.seconds(60)

    /// Assets that are not fully on disk.
    fileprivate var incompleteNumbers: [AssetNumber] {
        self.held.statuses.enumerated().compactMap { item, status in
            self.progress.isIncomplete(item: item) ? status.number : nil
        }
    }

    fileprivate mutating func received(
        _ data: AssetBytes,
        now: NIODeadline
    ) -> UploadStateMachine.OnData {
        let count = data.bytes.readableBytes
        switch self.progress.received(item: data.item, offset: data.offset, count: count) {
        case .refuse(let item): return .refuse(item: item)
        case .write(let item, let isLast):
            self.receivedAt = now
            return self.take(data, item: item, isLast: isLast, now: now)
        }
    }

    private mutating func take(
        _ data: AssetBytes,
        item: Int,
        isLast: Bool,
        now: NIODeadline
    ) -> UploadStateMachine.OnData {
        let lane = self.lane
        // The batch must have one reference, so that adding a frame does not copy it.
        self.lane = .idle
        var batch: UploadBatch
        let isScheduled: Bool
        switch consume lane {
        case .writing(var next):
            next.add(data, item: item, isLast: isLast)
            self.lane = .writing(next: next)
            return .keep
        case .scheduled(let waiting):
            batch = waiting
            isScheduled = true
        case .idle:
            batch = UploadBatch()
            isScheduled = false
        }
        batch.add(data, item: item, isLast: isLast)
        if isLast || batch.payloadBytes >= Self.batchBytes {
            return self.write(batch, now: now).map { .write($0) } ?? .keep
        }
        self.lane = .scheduled(batch)
        return isScheduled ? .keep : .schedule
    }

    /// Hands a batch to the lane unless it is empty; later bytes form the next batch.
    mutating func write(_ batch: UploadBatch, now: NIODeadline) -> UploadStateMachine.Write? {
        guard !batch.steps.isEmpty else {
            self.lane = .idle
            return nil
        }
        self.lane = .writing(next: UploadBatch())
        var touches: [AssetNumber] = []
        if now - self.held.touchedAt >= Self.touchInterval {
            self.held.touchedAt = now
            touches = self.incompleteNumbers
        }
        return UploadStateMachine.Write(
            batch: batch,
            isDurabilityDue: now - self.durableAt >= Self.durableInterval,
            touches: touches
        )
    }

    /// Whether to begin a sync; the client may send bytes meanwhile.
    fileprivate mutating func beginSync(now: NIODeadline) -> Bool {
        guard !self.isSyncing else { return false }
        self.isSyncing = true
        self.durableAt = now
        return true
    }

    /// The durable bytes to report to the client, if a report is due.
    fileprivate mutating func reportWhenDue(now: NIODeadline) -> UploadStateMachine.ProgressReport? {
        let durableBytes = self.progress.durableBytes
        guard durableBytes > self.reportedBytes, self.pace.isDue(at: now) else { return nil }
        self.reportedBytes = durableBytes
        return UploadStateMachine.ProgressReport(
            doneBytes: durableBytes,
            totalBytes: self.progress.totalBytes
        )
    }
}

extension UploadBatch {
    /// Adds the bytes of a frame, and the end of the asset that they complete.
    fileprivate mutating func add(_ data: AssetBytes, item: Int, isLast: Bool) {
        self.add(data.bytes, item: item, payloadBytes: data.payloadBytes)
        if isLast { self.finish(item: item) }
    }
}
