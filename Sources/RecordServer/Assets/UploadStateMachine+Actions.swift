import NIOCore
import RecordModel
import StorageContract

// Actions for each event of an upload.
extension UploadStateMachine {
    enum OnBegun: Equatable {
        /// Look for bytes of earlier uploads.
        case recover(releasing: [AssetNumber])
        /// Return the ticket, if there is one, and request a turn.
        case ask([AssetNumber], ending: UploadTurns.Ticket?, releasing: [AssetNumber])
        /// Nothing is missing.
        case complete
    }

    enum OnTurn: Equatable {
        case recover
        /// The deadline is met: from now on the client periodically gets a progress message.
        case tellThatItLives
    }

    enum OnContested: Equatable {
        /// The client's timeout is shorter from now on.
        case look
        case ignore
    }

    enum OnRecovered: Equatable {
        /// All assets are on disk.
        case finish
        /// Send the offsets; the client may then send unless nothing is missing.
        case receive(wantsBytes: Bool, isContested: Bool, Write?)
    }

    enum OnData: Equatable {
        case write(Write)
        /// Larger batches are cheaper, so these bytes wait for others that arrive at once.
        case schedule
        /// They go with the next batch.
        case keep
        /// They are not the next expected bytes.
        case refuse(item: Int)
        case ignore
    }

    /// The steps for the lane.
    struct Write: Equatable {
        let batch: UploadBatch
        /// Makes written bytes durable, if there are enough of them.
        let isDurabilityDue: Bool
        /// Assets for which the registry is to record activity.
        let touches: [AssetNumber]
    }

    struct ProgressReport: Equatable {
        let doneBytes: Int64
        let totalBytes: Int64
    }

    struct OnWritten: Equatable {
        /// Grant credit for written bytes.
        let grants: Bool
        /// The item to make durable.
        let syncs: Int?
        let report: ProgressReport?
        let writes: Write?
    }

    struct OnDurable: Equatable {
        let report: ProgressReport?
        let syncsAgain: Bool
    }

    enum OnCompleted: Equatable {
        /// It was the last asset.
        case finish
        case report(ProgressReport)
        case ignore
    }

    enum OnFileFailed: Equatable {
        /// Remove the partial asset before the client is notified, so that its next upload does not
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
        /// Bytes that arrived and were not handed to a thread: written, so they need not be sent
        /// again.
        let batch: UploadBatch
        let ticket: UploadTurns.Ticket?
        let numbers: [AssetNumber]
        /// Durable bytes of these assets are kept for a grace period from now on.
        let touches: [AssetNumber]
    }
}
