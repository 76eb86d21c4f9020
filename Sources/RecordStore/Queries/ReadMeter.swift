/// Counts what a page reads, and says when it is enough.
final class ReadMeter {
    private(set) var entriesRead = 0
    private(set) var recordsRead = 0
    /// Until it is set back nothing is too much: for what has to be read as a whole.
    var isHeld = false
    /// A page ends when it has read so much.
    private let readsMax: Int
    /// Beyond it the query gives its thread back and starts again on another; `nil`: it may stay.
    private let attemptMax: Int?

    init(readsMax: Int, attemptMax: Int?) {
        self.readsMax = readsMax
        self.attemptMax = attemptMax
    }

    private var reads: Int { self.entriesRead + self.recordsRead }

    var isUsedUp: Bool { !self.isHeld && self.reads >= self.readsMax }

    /// What is left of the page; at least 1.
    var left: Int { max(1, self.readsMax - self.reads) }

    /// A look at an index counts as an entry even if it finds none.
    func countEntries(_ count: Int) throws(QueryFailure) {
        self.entriesRead += max(1, count)
        try self.checkAttempt()
    }

    func countRecord() throws(QueryFailure) {
        self.recordsRead += 1
        try self.checkAttempt()
    }

    private func checkAttempt() throws(QueryFailure) {
        if let attemptMax, self.reads > attemptMax { throw .tooLong }
    }
}
