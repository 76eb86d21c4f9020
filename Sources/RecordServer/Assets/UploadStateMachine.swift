import NIOCore
import RecordModel
import RecordStore

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
/// Replies that come after a change of state are races, and answered with `nil` or `.ignore`. What
/// cannot come in a state is a bug of ours, and stops the process.
enum UploadStateMachine: ~Copyable {
    /// The registry is asked for the first time, and the client has heard nothing. Exits: `begun`.
    case beginning
    /// The client hears that its upload lives, and may not send yet. Exits: those of the step.
    case preparing(Held, Step)
    /// The client may send. Exits: `fileFailed`.
    case receiving(Receiving)
    /// The disk is full: what is there is removed for others. Nothing that still comes is written.
    case givingUp(Held, incomplete: [AssetNumber])
    case ended

    /// The step that an upload waits for before its client may send.
    enum Step: Equatable {
        /// For the length of a call: a turn is asked for. Exits: `turnAsked`.
        case asking
        /// Other uploads have their turn. Exits: `turnCame`.
        case waiting
        /// The turn came, and the registry is asked once more, since whoever had the turn before
        /// may have completed or removed what it spoke of. Exits: `begun`.
        case beginningAgain
        /// What is there of earlier uploads is being looked at. Exits: `recovered`.
        case recovering
    }

    /// The claims of an upload on the registry and on turns.
    struct Held {
        /// The status of each asset, as its rows have it.
        var places: [UploadStatus]
        /// `nil` until it is asked for, and if nothing is missing, so that none is needed.
        var turn: Turn?
        /// When the registry last heard of the upload.
        var touchedAt: NIODeadline

        /// Assets that are not complete.
        var numbers: [AssetNumber] { self.places.compactMap(\.number) }

        /// Whether somebody waits for an asset of this upload.
        var isContested: Bool { self.turn?.isContested == true }
    }

    /// A turn that an upload has, or waits for.
    struct Turn {
        let ticket: UploadTurns.Ticket
        /// Somebody waits for an asset of this upload.
        var isContested = false
    }

    /// An upload whose client may send.
    ///
    /// The lane may be writing while a file is made durable: each of the two goes on by itself.
    struct Receiving {
        var held: Held
        var progress: UploadProgress
        var lane = Lane.idle
        /// Written bytes are being made durable.
        var isSyncing = false
        /// When bytes came, or could first come again.
        var heardAt: NIODeadline
        /// When bytes were last made durable, or began to come.
        var durableAt: NIODeadline
        /// The durable bytes that the client was last told of.
        var toldBytes: Int64 = 0
        var pace = ProgressPace()
    }

    /// The fate of bytes that came and were not yet handed to the lane.
    enum Lane {
        /// There are none.
        case idle
        /// They are written soon, unless more come at once.
        case scheduled(UploadBatch)
        /// The lane writes others: what comes meanwhile goes together, when that is done.
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

    /// How long a client may be silent though it may send.
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
    mutating func begun(_ places: [UploadStatus], now: NIODeadline) -> OnBegun {
        switch consume self {
        case .beginning:
            let held = Held(places: places, touchedAt: now)
            guard !held.numbers.isEmpty else {
                self = .preparing(held, .recovering)
                return .complete
            }
            self = .preparing(held, .asking)
            return .ask(held.numbers, ending: nil, releasing: [])
        case .preparing(var held, .beginningAgain):
            // Those of before were opened once more, or are no business of this upload any longer.
            let before = held.numbers
            held.places = places
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

    /// A turn was asked for.
    mutating func turnAsked(_ ticket: UploadTurns.Ticket, isNow: Bool) -> OnTurn {
        guard case .preparing(var held, .asking) = consume self else {
            preconditionFailure("a turn for an upload that had not asked")
        }
        held.turn = Turn(ticket: ticket)
        self = .preparing(held, isNow ? .recovering : .waiting)
        return isNow ? .recover : .tellThatItLives
    }

    /// It is the upload's turn: the registry is to be asked again.
    mutating func turnCame() {
        guard case .preparing(let held, .waiting) = consume self else {
            preconditionFailure("a turn that was not waited for")
        }
        self = .preparing(held, .beginningAgain)
    }

    /// Somebody waits for an asset of this upload, which has its turn.
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

    /// The first byte that is missing is known, of each asset.
    mutating func recovered(_ offsets: [Int64], of assets: [Asset], now: NIODeadline) -> OnRecovered {
        guard case .preparing(let held, .recovering) = consume self else {
            preconditionFailure("offsets that were not looked for")
        }
        var receiving = Receiving(
            held: held,
            progress: UploadProgress(assets: assets, offsets: offsets),
            heardAt: now,
            durableAt: now
        )
        var batch = UploadBatch()
        for (item, place) in held.places.enumerated() {
            switch place {
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
