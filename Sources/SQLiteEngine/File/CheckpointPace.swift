/// Decides when to checkpoint the log beside the writer.
///
/// A checkpoint costs two flushes to disk, and makes every read cheaper until the next write. A
/// long log is checkpointed after a second without writes. A short log, or one that grows slowly
/// and steadily, is checkpointed every ten seconds. Under write load no checkpoint is requested:
/// the writer makes one when the log has reached its bound, so that a page that changes repeatedly
/// is written to the file once.
struct CheckpointPace {
    /// Pages added to the log since the last request for a checkpoint.
    private(set) var pages: Int
    /// Those of them that were added in the current pause.
    private var recentPages = 0
    /// Start of the current pause.
    private var pauseMilliseconds: Int64

    static let longLogPages = 1_000
    static let pauseLength: Int64 = 10_000
    /// Threshold of pages in a pause: about a hundred small saves a second.
    static let manyPages = 5_000

    /// 80 MB, written in well under a second.
    static let shutdownPages = 20_000

    /// The pages left by an earlier process are unknown: they count as a long log.
    init(nowMilliseconds: Int64) {
        self.pages = Self.longLogPages
        self.pauseMilliseconds = nowMilliseconds
    }

    mutating func wrote(pages: Int) {
        self.pages += pages
        self.recentPages += pages
    }

    /// Whether a checkpoint would not delay a shutdown.
    var isShort: Bool { self.pages <= Self.shutdownPages }

    /// Whether to request a checkpoint now, while no job waits for the writer.
    ///
    /// The caller then requests it.
    mutating func isDue(afterIdleSecond isIdle: Bool, nowMilliseconds now: Int64) -> Bool {
        // The clock may have been set back.
        let hasPaused = !(0..<Self.pauseLength).contains(now - self.pauseMilliseconds)
        let isDue =
            isIdle && self.pages >= Self.longLogPages
            || hasPaused && self.pages > 0 && (isIdle || self.recentPages < Self.manyPages)
        if isDue || hasPaused {
            self.pauseMilliseconds = now
            self.recentPages = 0
        }
        if isDue { self.pages = 0 }
        return isDue
    }
}
