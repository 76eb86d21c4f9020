import NIOCore
import RecordModel
import RecordStore

// Actions for each event of an upload.
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
        /// The deadline is met: from now on the client hears every now and then that its upload
        /// lives.
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

    /// The steps for the lane.
    struct Write: Equatable {
        let batch: UploadBatch
        /// Makes written bytes durable, if there are enough of them.
        let isDurabilityDue: Bool
        /// The registry is to hear that bytes came.
        let touches: [AssetNumber]
    }

    struct Told: Equatable {
        let doneBytes: Int64
        let totalBytes: Int64
    }

    struct OnWritten: Equatable {
        /// Bytes that are written make room for more.
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
        /// Remove what there is; only then the client is told, so that its next upload does not
        /// meet this one.
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

    /// The resources that an upload gives back at its end.
    struct OnEnd: Equatable {
        /// What came and no thread had yet: written, so that it need not be sent again.
        let batch: UploadBatch
        let ticket: UploadTurns.Ticket?
        let numbers: [AssetNumber]
        /// What was durable stays for a while from now on.
        let touches: [AssetNumber]
    }
}
