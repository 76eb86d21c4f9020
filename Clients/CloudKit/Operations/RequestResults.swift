internal import RecordClient
internal import WireProtocol

/// The results of a request: read, kept, noted and ordered.
///
/// The request's state machine lends them to the steps, which run one at a time. So records are
/// read, and callers called, without a lock.
struct RequestResults<Request: BatchRequest>: Sendable {
    /// The step after the last result.
    enum Ending: Sendable {
        case answered(End)
        case failed(CKError)
        /// The server has lost files: a part is sent again.
        case again(Request)
    }

    /// How often files that the server has lost are uploaded again.
    private static var repeatsMax: Int { 2 }

    private(set) var attempt: RequestAttempt<Request>
    private var repeats = 0
    private var tally = ResultTally<Request>()
    private var order = ResultOrder<Request>()
    /// `nil` if no ledger is used.
    private var notes: LedgerNotes<Request>?
    /// Failures that are kept until the end: only then it is known which items to send again.
    private var kept: [Item] = []
    private var ending: Ending?
    /// The results for a caller that gets all of them at the end.
    private(set) var gathered: [Request.ItemResult] = []

    init(_ request: Request) { self.attempt = RequestAttempt(request: request, roles: RequestRoles()) }

    /// The `partialFailure` of the items that failed; `nil` if none did.
    var partialFailure: CKError? { self.tally.partialFailure }

    mutating func gather(_ results: [Request.ItemResult]) {
        self.gathered = self.gathered.isEmpty ? results : self.gathered + results
    }

    /// Runs a step.
    ///
    /// - Returns: The results to report now.
    mutating func run(_ step: RequestStep<Request>) -> [Request.ItemResult] {
        switch step {
        case .sending(let attempt):
            self.attempt = attempt
            self.tally.begin(attempt)
            self.notes = LedgerNotes(attempt)
            return attempt.roles.refused
        case .received(let items):
            return self.order.add(self.read(self.passing(items)), of: self.attempt)
        case .ended(let result): return self.order.add(self.ended(result), of: self.attempt)
        case .completed(let number, let result): return self.completed(number, result)
        case .progress(let report): report()
        case .failed(let error): self.ending = .failed(error)
        }
        return []
    }

    /// Returns the records to complete from now on.
    mutating func startCompletions() -> [ResultOrder<Request>.Incomplete] {
        guard let completion = self.attempt.completion else { return [] }
        return self.order.start(countMax: type(of: completion).parallelMax)
    }

    /// Returns what follows, once, when every result has had its turn.
    mutating func takeEnding(isCancelled: () -> Bool) -> Ending? {
        guard self.order.isEmpty, let ending = self.ending.take() else { return nil }
        let failsIfCancelled =
            switch ending {
            // Some records may not be complete for it.
            case .answered: self.attempt.completion != nil
            case .again: true
            case .failed: false
            }
        return failsIfCancelled && isCancelled() ? .failed(.cancelled) : ending
    }

    private mutating func read(_ items: [Item]) -> [Request.ItemResult] {
        let results = self.tally.read(items, of: self.attempt)
        self.notes?.add(results)
        return results
    }

    /// Returns the items that are not kept, in order.
    private mutating func passing(_ items: [Item]) -> [Item] {
        guard case .uploaded? = self.attempt.roles.files, self.repeats < Self.repeatsMax else { return items }
        self.kept += items.filter { $0.failure != nil }
        return items.filter { $0.failure == nil }
    }

    private mutating func ended(_ result: Result<End, ClientError>) -> [Request.ItemResult] {
        let kept = self.kept
        self.kept = []
        switch self.tally.judged(result) {
        case .success(let end):
            var rest = kept
            self.ending = .answered(end)
            if case .uploaded(let again)? = self.attempt.roles.files, let part = again(kept) {
                self.ending = .again(part.request)
                self.repeats += 1
                self.tally.leaveOut(part.items)
                rest.removeAll { part.items.contains($0.index) }
            }
            let results = self.read(rest) + self.tally.missingResults(of: self.attempt)
            return results + (self.notes?.ended(end) ?? [])
        case .failure(let error):
            self.attempt.session?.note(error)
            self.notes?.failed(CKError(error))
            self.ending = .failed(CKError(error.about(self.attempt.roles.subject)))
            return self.read(kept)
        }
    }

    private mutating func completed(
        _ number: Int,
        _ result: Result<CKRecord, CKError>
    ) -> [Request.ItemResult] {
        guard let value = self.attempt.roles.records?.value,
            case .value(let id, _)? = self.order.incomplete(number)
        else { return [] }
        let completed = Request.ItemResult.value(id, result.map(value).mapError { $0 as any Error })
        self.tally.count([completed])
        return self.order.completed(number, as: completed)
    }
}
