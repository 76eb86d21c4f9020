import NIOCore
import RecordModel
import RecordStore

/// Decides about one upload, from its request to its end.
///
///     beginning ──▶ asking ──▶ waiting ──turn──▶ beginningAgain ──▶ (asking or recovering)
///         │            └──now──▶ recovering ──offsets──▶ receiving ──disk full──▶ givingUp
///         └──nothing is missing──▶ recovering
///
/// From every state an upload may end, on purpose or because its connection is gone.
///
/// Replies that come after a change of state are races, and answered with `nil` or `.ignore`. What
/// cannot come in a state is a bug of ours, and stops the process.
enum UploadStateMachine: ~Copyable {
    /// The registry is asked for the first time, and the client has heard nothing. Exits: `begun`.
    case beginning
    /// The turn came, and the registry is asked once more, since whoever had the turn before may have
    /// completed or removed what it spoke of. Exits: `begun`.
    case beginningAgain(Held)
    /// For the length of a call: a turn is asked for. Exits: `turnAsked`.
    case asking(Held)
    /// Other uploads have their turn. Exits: `turnCame`.
    case waiting(Held)
    /// What is there of earlier uploads is being looked at. Exits: `recovered`.
    case recovering(Held)
    /// The client may send. Exits: `fileFailed`.
    case receiving(Receiving)
    /// The disk is full: what is there is removed for others. Nothing that still comes is written.
    case givingUp(Held, incomplete: [AssetNumber])
    case ended

    /// What an upload has of the registry and of the turns.
    struct Held {
        /// What rows say of each asset.
        var places: [AssetPlace]
        /// `nil` if nothing is missing, so that no turn was needed.
        var ticket: UploadTurns.Ticket?
        /// Somebody waits for an asset of this upload.
        var isContested = false
        /// When the registry last heard of the upload.
        var touchedAt: NIODeadline

        /// Assets that are not complete.
        var numbers: [AssetNumber] { self.places.compactMap(\.number) }
    }

    /// An upload whose client may send.
    ///
    /// The lane may be writing while a file is made durable and the next batch is awaited: each of the
    /// three goes on by itself.
    struct Receiving {
        var held: Held
        var progress: UploadProgress
        /// What came and was not yet handed to the lane.
        var batch = UploadBatch()
        var isWriting = false
        /// What came is written soon, unless more comes at once.
        var isWriteScheduled = false
        /// What was written is being made durable.
        var isSyncing = false
        /// When bytes came, or could first come again.
        var heardAt: NIODeadline
        /// When bytes were last made durable, or began to come.
        var durableAt: NIODeadline
        /// What the client was last told to be durable.
        var toldBytes: Int64 = 0
        var pace = ProgressPace()
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

// MARK: - Actions

extension UploadStateMachine {
    enum OnBegun: Equatable {
        /// Look at what is there.
        case recover(releasing: [AssetNumber])
        /// Give back the ticket, if there is one, and ask for a turn.
        case ask([AssetNumber], ending: UploadTurns.Ticket?, releasing: [AssetNumber])
        /// Nothing is missing.
        case complete
    }

    enum OnTurn: Equatable {
        case recover
        /// The deadline is met: from now on the client hears every now and then that its upload lives.
        case tellThatItLives
    }

    enum OnContested: Equatable {
        /// The client has less time from now on.
        case look
        case ignore
    }

    enum OnRecovered: Equatable {
        /// All assets are on disk.
        case finish
        /// The client hears the offsets, and may send unless nothing is missing.
        case receive(wantsBytes: Bool, isContested: Bool, Write?)
    }

    enum OnData: Equatable {
        case write(Write)
        /// Many bytes are written for the price of few, so these wait for those that come at once.
        case schedule
        /// They go with the next batch.
        case keep
        /// They are not those that come next.
        case refuse(item: Int)
        case ignore
    }

    /// What the lane is to do.
    struct Write: Equatable {
        let batch: UploadBatch
        /// What is written is to become durable, if there is enough of it.
        let isDurabilityDue: Bool
        /// The registry is to hear that bytes came.
        let touches: [AssetNumber]
    }

    struct Told: Equatable {
        let doneBytes: Int64
        let totalBytes: Int64
    }

    struct OnWritten: Equatable {
        /// What was written makes room for more.
        let grants: Bool
        /// The item that is to be made durable.
        let syncs: Int?
        let tells: Told?
        let writes: Write?
    }

    struct OnDurable: Equatable {
        let tells: Told?
        let syncsAgain: Bool
    }

    enum OnCompleted: Equatable {
        /// It was the last asset.
        case finish
        case tell(Told)
        case ignore
    }

    enum OnFileFailed: Equatable {
        /// Remove what there is; only then the client is told, so that its next upload does not meet
        /// this one.
        case giveUp
        case fail
        case ignore
    }

    enum OnTimer: Equatable {
        /// Only its deadline ends it.
        case lookAtDeadline
        case tellThatItLives
        case look(in: TimeAmount)
        case fail(isContested: Bool)
        case ignore
    }

    /// What an upload gives back at its end.
    struct OnEnd: Equatable {
        /// What came and no thread had yet: written, so that it need not be sent again.
        let batch: UploadBatch
        let ticket: UploadTurns.Ticket?
        let numbers: [AssetNumber]
        /// What was durable stays for a while from now on.
        let touches: [AssetNumber]
    }
}

// MARK: - Until the client may send

extension UploadStateMachine {
    /// The registry has rows for all assets.
    mutating func begun(_ places: [AssetPlace], now: NIODeadline) -> OnBegun {
        switch consume self {
        case .beginning:
            let held = Held(places: places, touchedAt: now)
            if held.numbers.isEmpty {
                self = .recovering(held)
                return .complete
            }
            self = .asking(held)
            return .ask(held.numbers, ending: nil, releasing: [])
        case .beginningAgain(var held):
            // Those of before were opened once more, or are no business of this upload any longer.
            let before = held.numbers
            held.places = places
            held.touchedAt = now
            if held.ticket != nil, Set(held.numbers).isSubset(of: before) {
                self = .recovering(held)
                return .recover(releasing: before)
            }
            let ticket = held.ticket
            held.ticket = nil
            self = .asking(held)
            return .ask(held.numbers, ending: ticket, releasing: before)
        case .ended: preconditionFailure("an upload began that has ended")
        case .asking: preconditionFailure("an upload began that asks for its turn")
        case .waiting: preconditionFailure("an upload began that waits for its turn")
        case .recovering: preconditionFailure("an upload began twice")
        case .receiving: preconditionFailure("an upload began twice")
        case .givingUp: preconditionFailure("an upload began twice")
        }
    }

    /// A turn was asked for.
    mutating func turnAsked(_ ticket: UploadTurns.Ticket, isNow: Bool) -> OnTurn {
        guard case .asking(var held) = consume self else {
            preconditionFailure("a turn for an upload that had not asked")
        }
        held.ticket = ticket
        self = isNow ? .recovering(held) : .waiting(held)
        return isNow ? .recover : .tellThatItLives
    }

    /// It is the upload's turn: the registry is to be asked again.
    mutating func turnCame() {
        guard case .waiting(let held) = consume self else {
            preconditionFailure("a turn that was not waited for")
        }
        self = .beginningAgain(held)
    }

    /// Somebody waits for an asset of this upload, which has its turn.
    mutating func contested() -> OnContested {
        switch consume self {
        case .beginning:
            self = .beginning
            return .ignore
        case .beginningAgain(var held):
            held.isContested = true
            self = .beginningAgain(held)
            return .ignore
        case .asking(var held):
            held.isContested = true
            self = .asking(held)
            return .ignore
        case .waiting(var held):
            held.isContested = true
            self = .waiting(held)
            return .ignore
        case .recovering(var held):
            held.isContested = true
            self = .recovering(held)
            return .ignore
        case .receiving(var receiving):
            receiving.held.isContested = true
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
        guard case .recovering(let held) = consume self else {
            preconditionFailure("offsets that were not looked for")
        }
        var receiving = Receiving(
            held: held,
            progress: UploadProgress(assets: assets, offsets: offsets),
            heardAt: now,
            durableAt: now
        )
        for (item, place) in held.places.enumerated() {
            switch place {
            case .complete:
                if receiving.progress.completed(item: item) {
                    self = .receiving(receiving)
                    return .finish
                }
            case .incomplete:
                if offsets[item] == assets[item].size { receiving.batch.finish(item: item) }
            }
        }
        let write = receiving.nextWrite(now: now)
        let wantsBytes = receiving.progress.wantsBytes
        self = .receiving(receiving)
        return .receive(wantsBytes: wantsBytes, isContested: held.isContested, write)
    }
}
