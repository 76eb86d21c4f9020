/// Counts what a page reads and compares, and tells when it is enough.
final class ReadMeter {
    private(set) var entriesRead = 0
    private(set) var recordsRead = 0
    private(set) var comparisons = 0
    /// Suspends the bounds of the page, for what has to be read as a whole.
    var isHeld = false { didSet { self.comparisonsBefore = self.comparisons } }
    /// Comparisons before `isHeld` was set.
    private var comparisonsBefore = 0
    private let budget: QueryBudget

    init(_ budget: QueryBudget) { self.budget = budget }

    private var reads: Int { self.entriesRead + self.recordsRead }

    var isUsedUp: Bool {
        guard !self.isHeld else { return false }
        return self.reads >= self.budget.readsMax || self.comparisons >= self.budget.comparisonsMax
    }

    /// Whether what has to be read as a whole exceeds its bound of comparisons.
    var isTooBroad: Bool {
        self.isHeld && self.comparisons - self.comparisonsBefore >= self.budget.collectedComparisonsMax
    }

    /// Reads that the page has left; at least 1.
    var left: Int { max(1, self.budget.readsMax - self.reads) }

    /// Counts entries.
    ///
    /// A search in an index counts as one even if it finds none.
    func countEntries(_ count: Int) throws(QueryFailure) {
        self.entriesRead += max(1, count)
        try self.checkAttempt()
    }

    func countRecord() throws(QueryFailure) {
        self.recordsRead += 1
        try self.checkAttempt()
    }

    /// Counts comparisons that are made next.
    func countComparisons(_ count: Int) throws(QueryFailure) {
        self.comparisons += count
        try self.checkAttempt()
    }

    private func checkAttempt() throws(QueryFailure) {
        guard let attempt = self.budget.attempt else { return }
        if self.reads > attempt.readsMax || self.comparisons > attempt.comparisonsMax { throw .tooLong }
    }
}
