import NIOCore
import RecordModel
import StorageContract

/// Decides about one upload, from its request to its end.
///
///     beginning ──▶ preparing ──offsets──▶ receiving ──disk full──▶ givingUp
///
/// The steps of `preparing`:
///
///     asking ──▶ waiting ──turn──▶ beginningAgain ──▶ (asking or recovering)
///        └──now──▶ recovering ◀── nothing was missing
///
/// From every state an upload may end, on purpose or because its connection is gone.
///
/// Replies that arrive after a change of state are races and yield `nil` or `.ignore`. An event
/// that cannot occur in a state is a bug of ours, and stops the process.
enum UploadStateMachine: ~Copyable {
    /// The registry is asked for the first time; no message was sent yet. Exits: `begun`.
    case beginning
    /// The client gets progress messages, and may not send yet. Exits: those of the step.
    case preparing(Held, Step)
    /// The client may send. Exits: `fileFailed`.
    case receiving(Receiving)
    /// The disk is full: the partial assets are removed for others. Later bytes are dropped.
    case givingUp(Held, incomplete: [AssetNumber])
    case ended

    /// The step that an upload waits for before its client may send.
    enum Step: Equatable {
        /// During a call: a turn is being requested. Exits: `turnAsked`.
        case asking
        /// Other uploads have their turn. Exits: `turnCame`.
        case waiting
        /// The turn came, and the registry is asked again: the previous upload may have completed
        /// or removed these assets. Exits: `begun`.
        case beginningAgain
        /// Bytes of earlier uploads are being looked for. Exits: `recovered`.
        case recovering
    }

    /// The claims of an upload on the registry and on turns.
    struct Held {
        /// The status of each asset, from its row.
        var statuses: [UploadStatus]
        /// `nil` until requested, and if nothing is missing, so that none is needed.
        var turn: Turn?
        /// When the registry last recorded activity of the upload.
        var touchedAt: NIODeadline

        /// Assets that are not complete.
        var numbers: [AssetNumber] { self.statuses.compactMap(\.number) }

        /// Whether another upload waits for an asset of this one.
        var isContested: Bool { self.turn?.isContested == true }
    }

    /// A turn that an upload has, or waits for.
    struct Turn {
        let ticket: UploadTurns.Ticket
        /// Another upload waits for an asset of this one.
        var isContested = false
    }

    /// An upload that the client may send.
    ///
    /// The lane may write while a file is made durable: the two are independent.
    struct Receiving {
        var held: Held
        var progress: UploadProgress
        var lane = Lane.idle
        /// Written bytes are being made durable.
        var isSyncing = false
        /// When bytes last arrived, or could first arrive again.
        var receivedAt: NIODeadline
        /// When bytes were last made durable, or began to arrive.
        var durableAt: NIODeadline
        /// The durable bytes of the last progress message.
        var reportedBytes: Int64 = 0
        var pace = ProgressPace()
    }

    /// The state of bytes that arrived and were not yet handed to the lane.
    enum Lane {
        /// There are none.
        case idle
        /// They are written soon, unless more come at once.
        case scheduled(UploadBatch)
        /// The lane is writing other bytes; these form its next batch.
        case writing(next: UploadBatch)

        /// Bytes that were not yet handed to the lane.
        var batch: UploadBatch {
            switch self {
            case .idle: UploadBatch()
            case .scheduled(let batch): batch
            case .writing(let next): next
            }
        }
    }

    /// How long a client that may send may be silent.
    struct Silence {
        let max: TimeAmount
        let contestedMax: TimeAmount

        func longest(isContested: Bool) -> TimeAmount {
            isContested ? min(self.max, self.contestedMax) : self.max
        }
    }

    init() { self = .beginning }
}

// MARK: - Until the client may send

extension UploadStateMachine {
    /// The registry has rows for all assets.
    mutating func begun(_ statuses: [UploadStatus], now: NIODeadline) -> OnBegun {
        switch consume self {
        case .beginning:
            let held = Held(statuses: statuses, touchedAt: now)
            guard !held.numbers.isEmpty else {
                self = .preparing(held, .recovering)
                return .complete
            }
            self = .preparing(held, .asking)
            return .ask(held.numbers, ending: nil, releasing: [])
        case .preparing(var held, .beginningAgain):
            // Earlier ones were opened again, or no longer belong to this upload.
            let before = held.numbers
            held.statuses = statuses
            held.touchedAt = now
            if Set(held.numbers).isSubset(of: before) {
                self = .preparing(held, .recovering)
                return .recover(releasing: before)
            }
            let ticket = held.turn?.ticket
            held.turn = nil
            self = .preparing(held, .asking)
            return .ask(held.numbers, ending: ticket, releasing: before)
        case .preparing: preconditionFailure("an upload began that has asked for its turn")
        case .receiving: preconditionFailure("an upload began twice")
        case .givingUp: preconditionFailure("an upload began twice")
        case .ended: preconditionFailure("an upload began that has ended")
        }
    }

    /// A turn was requested.
    mutating func turnAsked(_ ticket: UploadTurns.Ticket, isNow: Bool) -> OnTurn {
        guard case .preparing(var held, .asking) = consume self else {
            preconditionFailure("a turn for an upload that had not asked")
        }
        held.turn = Turn(ticket: ticket)
        self = .preparing(held, isNow ? .recovering : .waiting)
        return isNow ? .recover : .tellThatItLives
    }

    /// The upload's turn came: the registry is to be asked again.
    mutating func turnCame() {
        guard case .preparing(let held, .waiting) = consume self else {
            preconditionFailure("a turn that was not waited for")
        }
        self = .preparing(held, .beginningAgain)
    }

    /// Another upload waits for an asset of this one, which has its turn.
    mutating func contested() -> OnContested {
        switch consume self {
        case .beginning:
            self = .beginning
            return .ignore
        case .preparing(var held, let step):
            held.turn?.isContested = true
            self = .preparing(held, step)
            return .ignore
        case .receiving(var receiving):
            receiving.held.turn?.isContested = true
            self = .receiving(receiving)
            return .look
        case .givingUp(let held, let incomplete):
            self = .givingUp(held, incomplete: incomplete)
            return .ignore
        case .ended:
            self = .ended
            return .ignore
        }
    }

    /// The first missing byte of each asset is known.
    mutating func recovered(_ offsets: [Int64], of assets: [Asset], now: NIODeadline) -> OnRecovered {
        guard case .preparing(let held, .recovering) = consume self else {
            preconditionFailure("offsets that were not looked for")
        }
        var receiving = Receiving(
            held: held,
            progress: UploadProgress(assets: assets, offsets: offsets),
            receivedAt: now,
            durableAt: now
        )
        var batch = UploadBatch()
        for (item, status) in held.statuses.enumerated() {
            switch status {
            case .complete:
                if receiving.progress.completed(item: item) {
                    self = .receiving(receiving)
                    return .finish
                }
            case .incomplete:
                if offsets[item] == assets[item].size { batch.finish(item: item) }
            }
        }
        let write = receiving.write(batch, now: now)
        let wantsBytes = receiving.progress.wantsBytes
        self = .receiving(receiving)
        return .receive(wantsBytes: wantsBytes, isContested: held.isContested, write)
    }
}
