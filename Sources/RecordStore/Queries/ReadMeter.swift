/// Counts what a page reads and compares, and says when it is enough.
final class ReadMeter {
    private(set) var entriesRead = 0
    private(set) var recordsRead = 0
    private(set) var comparisons = 0
    /// Until it is set back nothing is too much: for what has to be read as a whole.
    var isHeld = false { didSet { self.comparisonsBefore = self.comparisons } }
    /// Those that were made before it was held.
    private var comparisonsBefore = 0
    private let budget: QueryBudget

    init(_ budget: QueryBudget) { self.budget = budget }

    private var reads: Int { self.entriesRead + self.recordsRead }

    var isUsedUp: Bool {
        guard !self.isHeld else { return false }
        return self.reads >= self.budget.readsMax || self.comparisons >= self.budget.comparisonsMax
    }

    /// Whether what has to be read as a whole takes more comparisons than it may.
    var isTooBroad: Bool {
        self.isHeld && self.comparisons - self.comparisonsBefore >= self.budget.collectedComparisonsMax
    }

    /// What is left of the page; at least 1.
    var left: Int { max(1, self.budget.readsMax - self.reads) }

    /// A look at an index counts as an entry even if it finds none.
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
