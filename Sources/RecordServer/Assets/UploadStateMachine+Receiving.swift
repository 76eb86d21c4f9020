import NIOCore
import RecordModel
import RecordStore

// Bytes of an upload, from the frame to the disk; and its end.
extension UploadStateMachine {
    /// Bytes came, in a payload of so many.
    mutating func received(_ data: AssetBytes, now: NIODeadline) -> OnData {
        switch consume self {
        case .receiving(var receiving):
            let action = receiving.received(data, now: now)
            self = .receiving(receiving)
            return action
        case .givingUp(let held, let incomplete):
            self = .givingUp(held, incomplete: incomplete)
            return .ignore
        case .ended:
            self = .ended
            return .ignore
        case .beginning: preconditionFailure("bytes for which nothing was granted")
        case .beginningAgain: preconditionFailure("bytes for which nothing was granted")
        case .asking: preconditionFailure("bytes for which nothing was granted")
        case .waiting: preconditionFailure("bytes for which nothing was granted")
        case .recovering: preconditionFailure("bytes for which nothing was granted")
        }
    }

    /// No more bytes came at once.
    mutating func writeDue(now: NIODeadline) -> Write? {
        self.whileReceiving(orElse: nil) { receiving in
            receiving.isWriteScheduled = false
            return receiving.nextWrite(now: now)
        }
    }

    /// The lane has written a batch.
    ///
    /// - Parameters:
    ///   - durable: Items, and how many of their bytes are on disk.
    ///   - due: An item of which enough was written to be made durable.
    ///   - now: The time.
    /// - Returns: What follows; `nil` if nothing does.
    mutating func written(
        durable: [(item: Int, bytes: Int64)],
        due: Int?,
        now: NIODeadline
    ) -> OnWritten? {
        self.whileReceiving(orElse: nil) { receiving in
            receiving.isWriting = false
            for (item, bytes) in durable { receiving.progress.becameDurable(item: item, bytes: bytes) }
            let syncs = due.flatMap { receiving.beginSync(now: now) ? $0 : nil }
            return OnWritten(
                grants: receiving.progress.wantsBytes,
                syncs: syncs,
                tells: durable.isEmpty ? nil : receiving.toldWhenDue(now: now),
                writes: receiving.nextWrite(now: now)
            )
        }
    }

    /// The lane could not write a batch: what was to come behind it is not written either.
    mutating func writeFailed() {
        self.whileReceiving(orElse: ()) { receiving in
            receiving.isWriting = false
            receiving.batch = UploadBatch()
        }
    }

    /// A grant opened the window again: from now on the client may be silent for so long.
    mutating func windowOpened(now: NIODeadline) {
        self.whileReceiving(orElse: ()) { $0.heardAt = now }
    }

    /// What was written of an item is durable.
    mutating func becameDurable(
        item: Int,
        bytes: Int64,
        isMoreDue: Bool,
        now: NIODeadline
    ) -> OnDurable? {
        self.whileReceiving(orElse: nil) { receiving in
            receiving.isSyncing = false
            receiving.progress.becameDurable(item: item, bytes: bytes)
            let tells = receiving.toldWhenDue(now: now)
            return OnDurable(tells: tells, syncsAgain: isMoreDue && receiving.beginSync(now: now))
        }
    }

    /// What was written of an item could not be made durable.
    mutating func syncFailed() {
        self.whileReceiving(orElse: ()) { $0.isSyncing = false }
    }

    /// The registry has an asset as complete.
    mutating func completed(item: Int, now: NIODeadline) -> OnCompleted {
        self.whileReceiving(orElse: .ignore) { receiving in
            guard !receiving.progress.completed(item: item) else { return .finish }
            return receiving.toldWhenDue(now: now).map { .tell($0) } ?? .ignore
        }
    }

    /// The file of an item cannot be read or written.
    mutating func fileFailed(item: Int, isDiskFull: Bool) -> OnFileFailed {
        guard isDiskFull else { return .fail }
        switch consume self {
        case .receiving(let receiving):
            guard receiving.held.places[item].number != nil else {
                self = .receiving(receiving)
                return .fail
            }
            self = .givingUp(receiving.held, incomplete: receiving.incompleteNumbers)
            return .giveUp
        case .recovering(let held):
            self = .recovering(held)
            return .fail
        case .givingUp(let held, let incomplete):
            self = .givingUp(held, incomplete: incomplete)
            return .ignore
        case .ended:
            self = .ended
            return .ignore
        case .beginning: preconditionFailure("a file of an upload that has not begun")
        case .beginningAgain: preconditionFailure("a file of an upload that has not begun")
        case .asking: preconditionFailure("a file of an upload that has not begun")
        case .waiting: preconditionFailure("a file of an upload that has not begun")
        }
    }

    /// It is time to look whether the upload has waited too long.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - mayReceive: Whether the client may send.
    ///   - silence: How long it may be silent then.
    /// - Returns: What to do.
    borrowing func timerFired(now: NIODeadline, mayReceive: Bool, silence: Silence) -> OnTimer {
        switch self {
        case .beginning: return .lookAtDeadline
        case .beginningAgain: return .tellThatItLives
        case .asking: return .tellThatItLives
        case .waiting: return .tellThatItLives
        case .recovering: return .tellThatItLives
        case .receiving(let receiving):
            guard receiving.progress.wantsBytes else { return .ignore }
            let isContested = receiving.held.isContested
            let silenceMax = silence.longest(isContested: isContested)
            guard mayReceive else { return .look(in: silenceMax) }
            let silent = now - receiving.heardAt
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
        case .beginningAgain(let held):
            self = .ended
            return OnEnd(held)
        case .asking(let held):
            self = .ended
            return OnEnd(held)
        case .waiting(let held):
            self = .ended
            return OnEnd(held)
        case .recovering(let held):
            self = .ended
            return OnEnd(held)
        case .receiving(let receiving):
            self = .ended
            return OnEnd(receiving.held, batch: receiving.batch, touches: receiving.incompleteNumbers)
        case .givingUp(let held, let incomplete):
            self = .ended
            return OnEnd(held, touches: incomplete)
        case .ended: preconditionFailure("an upload ended twice")
        }
    }

    /// What concerns an upload whose client may send, and is too late for one that gives up.
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
        case .beginning: preconditionFailure("bytes of an upload that has not begun")
        case .beginningAgain: preconditionFailure("bytes of an upload that has not begun")
        case .asking: preconditionFailure("bytes of an upload that has not begun")
        case .waiting: preconditionFailure("bytes of an upload that has not begun")
        case .recovering: preconditionFailure("bytes of an upload that has not begun")
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
        self.init(batch: batch, ticket: held.ticket, numbers: held.numbers, touches: touches)
    }
}

extension UploadStateMachine.Receiving {
    /// What is not written at once waits for so many bytes.
    private static let batchBytes = 512 * 1_024
    /// Bytes become durable at least so often, if there are enough: a slow client sees how far it is.
    private static let durableInterval = TimeAmount.seconds(1)
    private static let touchInterval = TimeAmount.seconds(60)

    /// Assets that are not on disk as a whole.
    fileprivate var incompleteNumbers: [AssetNumber] {
        self.held.places.enumerated().compactMap { item, place in
            self.progress.isIncomplete(item: item) ? place.number : nil
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
            self.batch.add(data.bytes, item: item, payloadBytes: data.payloadBytes)
            if isLast { self.batch.finish(item: item) }
            self.heardAt = now
            guard !self.isWriting else { return .keep }
            if isLast || self.batch.payloadBytes >= Self.batchBytes {
                return self.nextWrite(now: now).map { .write($0) } ?? .keep
            }
            guard !self.isWriteScheduled else { return .keep }
            self.isWriteScheduled = true
            return .schedule
        }
    }

    /// Hands over what came, unless the lane is busy: then what comes meanwhile goes together.
    mutating func nextWrite(now: NIODeadline) -> UploadStateMachine.Write? {
        guard !self.isWriting, !self.batch.steps.isEmpty else { return nil }
        self.isWriting = true
        var batch = UploadBatch()
        swap(&batch, &self.batch)
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

    /// Whether to begin to make something durable: bytes go on coming meanwhile.
    fileprivate mutating func beginSync(now: NIODeadline) -> Bool {
        guard !self.isSyncing else { return false }
        self.isSyncing = true
        self.durableAt = now
        return true
    }

    /// What the client is to hear of what is durable.
    fileprivate mutating func toldWhenDue(now: NIODeadline) -> UploadStateMachine.Told? {
        let durableBytes = self.progress.durableBytes
        guard durableBytes > self.toldBytes, self.pace.isDue(at: now) else { return nil }
        self.toldBytes = durableBytes
        return UploadStateMachine.Told(doneBytes: durableBytes, totalBytes: self.progress.totalBytes)
    }
}
