/// When the log is worth a copy into the file, beside the writer.
///
/// A copy costs two flushes to disk, and makes every read cheaper until somebody writes. So a long log
/// is copied when nobody has written for a second. A short one, or one that somebody adds a little to
/// all the time, is copied every ten seconds. Under a load of writes nobody asks for a copy: the writer
/// makes one when the log has grown to its bound, since pages that change again until then are
/// written to the file once.
struct CheckpointPace {
    /// Pages that went into the log since a copy was asked for.
    private(set) var pages: Int
    /// Those of them that came within the pause that runs.
    private var recentPages = 0
    /// The beginning of the pause that runs.
    private var pauseMilliseconds: Int64

    static let longLogPages = 1_000
    static let pauseLength: Int64 = 10_000
    /// Pages that are many within a pause: about a hundred small saves a second.
    static let manyPages = 5_000

    /// 80 MB, written in well under a second.
    static let shutdownPages = 20_000

    /// The number of pages that an earlier process left is not known: it counts as a long log.
    init(nowMilliseconds: Int64) {
        self.pages = Self.longLogPages
        self.pauseMilliseconds = nowMilliseconds
    }

    mutating func wrote(pages: Int) {
        self.pages += pages
        self.recentPages += pages
    }

    /// Whether a copy would not hold up a shutdown.
    var isShort: Bool { self.pages <= Self.shutdownPages }

    /// Whether to ask for a copy now, while nobody waits for the writer.
    ///
    /// The caller then asks for it.
    mutating func isDue(afterIdleSecond isIdle: Bool, nowMilliseconds now: Int64) -> Bool {
        // A clock may be set back.
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
