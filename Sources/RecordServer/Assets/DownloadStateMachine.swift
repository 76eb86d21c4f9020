import NIOCore
import RecordModel
import StorageContract

/// Decides about one download.
///
///     locating ──located──▶ sending ──last piece──▶ (its stream ends)
///
/// A piece of a download before its assets were located is a bug of ours, and stops the process.
enum DownloadStateMachine: ~Copyable {
    /// The store is locating the assets, since then. Exits: `located`.
    case locating(since: NIODeadline)
    /// To the end of the stream.
    case sending(Sending)

    struct Sending {
        var progress: DownloadProgress
        /// When something was last sent or requested.
        var sentAt: NIODeadline
        var pace = ProgressPace()
    }

    enum OnSent: Equatable {
        case tell(doneBytes: Int64, totalBytes: Int64)
        /// The last piece was sent, or there is none.
        case finish(totalBytes: Int64)
        case goOn
    }

    enum OnTimer: Equatable {
        case look(in: TimeAmount)
        /// The client has withheld credit for too long.
        case fail
    }

    init(now: NIODeadline) { self = .locating(since: now) }
}

extension DownloadStateMachine {
    /// The assets were located, and are retained while they are read.
    ///
    /// - Throws: The index of the first range that begins beyond the end of its asset.
    mutating func located(
        _ ranges: [AssetRange],
        of assets: [StoredAsset]
    ) throws(DownloadProgress.RangeInvalid) -> OnSent {
        guard case .locating(let since) = consume self else {
            preconditionFailure("a download was located twice")
        }
        let progress: DownloadProgress
        do throws(DownloadProgress.RangeInvalid) {
            progress = try DownloadProgress(ranges: ranges, assets: assets)
        } catch {
            self = .locating(since: since)
            throw error
        }
        self = .sending(Sending(progress: progress, sentAt: since))
        return progress.isSent ? .finish(totalBytes: progress.totalBytes) : .goOn
    }

    /// Bytes that were taken and not sent; `nil` while the assets are being located.
    var takenBytes: Int? {
        switch self {
        case .locating: nil
        case .sending(let sending): sending.progress.takenBytes
        }
    }

    /// Whether every piece was taken.
    var isTaken: Bool {
        switch self {
        case .locating: false
        case .sending(let sending): sending.progress.isTaken
        }
    }

    /// Bytes of a range that were not taken.
    func restBytes(of item: UInt32) -> Int64 {
        switch self {
        case .locating: 0
        case .sending(let sending): sending.progress.restBytes(of: item)
        }
    }

    /// The hash of the asset that a range is all of.
    func sha256(of item: UInt32) -> [UInt8]? {
        switch self {
        case .locating: nil
        case .sending(let sending): sending.progress.sha256(of: item)
        }
    }

    /// Takes pieces of one asset to read and send next.
    mutating func take(upTo bytes: Int64, pieceBytesMax: Int) -> [DownloadProgress.Piece] {
        self.whileSending { $0.progress.take(upTo: bytes, pieceBytesMax: pieceBytesMax) }
    }

    /// Notes that a piece was sent.
    mutating func sent(_ piece: DownloadProgress.Piece, now: NIODeadline) -> OnSent {
        self.whileSending { sending in
            sending.progress.sent(piece)
            sending.sentAt = now
            let totalBytes = sending.progress.totalBytes
            guard !sending.progress.isSent else { return .finish(totalBytes: totalBytes) }
            guard sending.pace.isDue(at: now) else { return .goOn }
            return .tell(doneBytes: sending.progress.sentBytes, totalBytes: totalBytes)
        }
    }

    /// Checks whether the client grants credit.
    func timerFired(now: NIODeadline, hasCredit: Bool, timeout: TimeAmount) -> OnTimer {
        switch self {
        case .locating: return .look(in: timeout)
        case .sending(let sending):
            let silence = now - sending.sentAt
            guard silence >= timeout else { return .look(in: timeout - silence) }
            return hasCredit ? .look(in: timeout) : .fail
        }
    }

    private mutating func whileSending<Result>(_ body: (inout Sending) -> Result) -> Result {
        guard case .sending(var sending) = consume self else {
            preconditionFailure("a piece of a download that was not located")
        }
        let result = body(&sending)
        self = .sending(sending)
        return result
    }
}
