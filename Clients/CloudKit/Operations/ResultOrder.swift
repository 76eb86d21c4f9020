/// Results in order: one with an incomplete record waits until it is complete, and later ones wait
/// for it.
struct ResultOrder<Request: BatchRequest>: Sendable {
    private enum Slot {
        case ready(Request.ItemResult)
        /// Files of the record, or the server's state of a saved share, are missing.
        case incomplete(Request.ItemResult)
    }

    /// A record to complete, and the number of its result.
    struct Incomplete: Sendable {
        let number: Int
        let record: CKRecord
    }

    /// The results that were not handed over, and the number of the first of them.
    private var slots: [Slot] = []
    private var first = 0
    /// The records that wait for their completion to start.
    private var waiting: [Incomplete] = []
    private var underWay = 0

    var isEmpty: Bool { self.slots.isEmpty }

    /// Adds results behind the others.
    ///
    /// - Returns: The results to report now.
    mutating func add(
        _ batch: [Request.ItemResult],
        of attempt: RequestAttempt<Request>
    ) -> [Request.ItemResult] {
        let isSimple =
            attempt.completion == nil
            || (self.slots.isEmpty && !batch.contains { attempt.incompleteRecord(of: $0) != nil })
        guard !isSimple else { return batch }
        for itemResult in batch {
            if let record = attempt.incompleteRecord(of: itemResult) {
                let number = self.first + self.slots.count
                self.waiting.append(Incomplete(number: number, record: record))
                self.slots.append(.incomplete(itemResult))
            } else {
                self.slots.append(.ready(itemResult))
            }
        }
        return self.takeReady()
    }

    /// Returns the records to complete from now on, so that at most `countMax` are under way.
    mutating func start(countMax: Int) -> [Incomplete] {
        let started = Array(self.waiting.prefix(max(countMax - self.underWay, 0)))
        self.waiting.removeFirst(started.count)
        self.underWay += started.count
        return started
    }

    /// Returns the result of this number, which is incomplete.
    func incomplete(_ number: Int) -> Request.ItemResult? {
        guard case .incomplete(let itemResult) = self.slots[number - self.first] else { return nil }
        return itemResult
    }

    /// The completion of a record has ended.
    ///
    /// - Returns: The results to report now.
    mutating func completed(_ number: Int, as itemResult: Request.ItemResult) -> [Request.ItemResult] {
        self.underWay -= 1
        self.slots[number - self.first] = .ready(itemResult)
        return self.takeReady()
    }

    private mutating func takeReady() -> [Request.ItemResult] {
        var ready: [Request.ItemResult] = []
        while ready.count < self.slots.count, case .ready(let itemResult) = self.slots[ready.count] {
            ready.append(itemResult)
        }
        self.slots.removeFirst(ready.count)
        self.first += ready.count
        return ready
    }
}
