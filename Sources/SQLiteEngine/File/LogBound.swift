/// Decides when the writer checkpoints under a load of writes.
///
/// The log may have four times the pages of the store, but at least 64 MB. A page that changes
/// repeatedly is then written to the file once, and checkpoints write at most a quarter of what the
/// log gets.
///
/// A checkpoint holds up all requests. So the writer spends at most a two-hundredth of its time in
/// them, until the log has 800 MB: SQLite then makes one itself, within a commit. Reading such a
/// log after a crash takes about a second.
struct LogBound {
    static let pagesMin = 64 << 20 / DatabaseFile.pageBytes
    static let pagesMax = 800_000_000 / DatabaseFile.pageBytes
    static let pagesForEachOfStore: Int64 = 4
    static let pauseForEachNanosecond: Int64 = 200

    /// The bound since the log began anew; `nil` if the log is shorter than every bound.
    private var pages: Int64?
    private var notBefore = Int64.min

    /// Whether to checkpoint a log of so many pages.
    ///
    /// The pages of the store are asked for once, when the log gets long.
    mutating func isDue(pages: Int64, at now: Int64, ofStore: () -> Int64) -> Bool {
        guard pages >= Self.pagesMin else {
            self.pages = nil
            return false
        }
        guard now >= self.notBefore else { return false }
        let most = self.pages ?? min(max(Self.pagesMin, Self.pagesForEachOfStore * ofStore()), Self.pagesMax)
        self.pages = most
        return pages >= most
    }

    /// Notes a checkpoint, by the monotonic clock in nanoseconds.
    mutating func checkpointed(from start: Int64, to end: Int64) {
        self.pages = nil
        self.notBefore = end + Self.pauseForEachNanosecond * (end - start)
    }
}
