/// Counts the reads and comparisons of a page, and tells when the page has to end.
final class ReadMeter {
    private(set) var entriesRead = 0
    private(set) var recordsRead = 0
    private(set) var comparisons = 0
    /// The bytes of the bodies of records.
    private var bytesRead = 0
    /// Suspends the bounds of the page, for records that have to be read as a whole.
    var isHeld = false {
        didSet {
            self.comparisonsBefore = self.comparisons
            self.bytesBefore = self.bytesRead
        }
    }
    /// Comparisons, and bytes read, before `isHeld` was set.
    private var comparisonsBefore = 0
    private var bytesBefore = 0
    private let budget: QueryBudget

    /// The costs of reads to an attempt, in entries.
    ///
    /// A step to the next entry takes a fraction of a microsecond, a search for a record several.
    private enum Weight {
        static let record = 16
        /// The bytes of a body that cost as much as an entry.
        static let bytes = 1_024
    }

    /// The least cost of an attempt that reads this number of records.
    static func cost(ofRecords count: Int) -> Int { Weight.record * count }

    init(_ budget: QueryBudget) { self.budget = budget }

    private var reads: Int { self.entriesRead + self.recordsRead }

    var isUsedUp: Bool {
        guard !self.isHeld else { return false }
        return self.reads >= self.budget.readsMax || self.comparisons >= self.budget.comparisonsMax
            || self.bytesRead >= self.budget.bytesReadMax
    }

    /// Whether records that have to be read as a whole exceed their bound of comparisons, or of
    /// bytes.
    var isTooBroad: Bool {
        guard self.isHeld else { return false }
        return self.comparisons - self.comparisonsBefore >= self.budget.collectedComparisonsMax
            || self.bytesRead - self.bytesBefore >= self.budget.collectedBytesMax
    }

    /// Entries that may be read at once: those that the page has left, and of an attempt one more than
    /// it may cost; at least 1.
    var left: Int {
        var left = self.budget.readsMax - self.reads
        if let attempt = self.budget.attempt { left = min(left, attempt.costMax - self.cost + 1) }
        return max(1, left)
    }

    private var cost: Int {
        self.entriesRead + Weight.record * self.recordsRead + self.bytesRead / Weight.bytes
    }

    /// Counts entries.
    ///
    /// A search in an index counts as one even if it finds none.
    func countEntries(_ count: Int) throws(QueryFailure) {
        self.entriesRead += max(1, count)
        try self.checkAttempt()
    }

    /// Counts a record and the bytes of its body.
    ///
    /// A record that is gone counts too.
    func countRecord(bytes: Int) throws(QueryFailure) {
        self.recordsRead += 1
        self.bytesRead += bytes
        try self.checkAttempt()
    }

    /// Counts comparisons that are made next.
    func countComparisons(_ count: Int) throws(QueryFailure) {
        self.comparisons += count
        try self.checkAttempt()
    }

    private func checkAttempt() throws(QueryFailure) {
        guard let attempt = self.budget.attempt else { return }
        if self.cost > attempt.costMax || self.comparisons > attempt.comparisonsMax { throw .tooLong }
    }
}
