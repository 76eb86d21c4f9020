internal import RecordClient
private import RecordModel
internal import WireProtocol

/// The items of a request that have a result, and those that failed.
struct ResultTally<Request: BatchRequest>: Sendable {
    /// Items that failed so far, in every attempt.
    private(set) var failures: [(id: Request.ItemID, error: any Error)] = []
    /// By number of the item in this attempt.
    private var hasResult: [Bool] = []
    /// The fault of a response that can't be read.
    private var violation: WireError?

    /// An attempt begins.
    mutating func begin(_ attempt: RequestAttempt<Request>) {
        self.hasResult = Array(repeating: false, count: attempt.request.itemCount ?? 0)
        self.count(attempt.roles.refused)
    }

    /// Reads items that arrived.
    ///
    /// Results of items that the request does not have are dropped. So is everything from the first
    /// unreadable result on.
    mutating func read(_ items: [Item], of attempt: RequestAttempt<Request>) -> [Request.ItemResult] {
        guard self.violation == nil else { return [] }
        self.leaveOut(items.lazy.map(\.index))
        var results: [Request.ItemResult] = []
        results.reserveCapacity(items.count)
        for item in items {
            do throws(WireError) {
                if let read = try attempt.result(of: item) { results.append(read) }
            } catch {
                self.violation = error
                break
            }
        }
        self.count(results)
        return results
    }

    /// Returns failures for the items that the server left without a result.
    mutating func missingResults(of attempt: RequestAttempt<Request>) -> [Request.ItemResult] {
        let silent = self.hasResult.indices.filter { !self.hasResult[$0] }
        let failure = Failure(
            code: .internalError,
            message: "The server sent no result for the item",
            retry: .never
        )
        return self.read(silent.map { Item(index: UInt32($0), outcome: .failure(failure)) }, of: attempt)
    }

    /// Expects no result of items: they have one, or get it from another attempt.
    mutating func leaveOut(_ items: some Sequence<UInt32>) {
        for item in items where Int(item) < self.hasResult.count { self.hasResult[Int(item)] = true }
    }

    /// Returns the end of the request, as an error if a part could not be read.
    func judged(_ result: Result<End, ClientError>) -> Result<End, ClientError> {
        guard case .success = result, let violation = self.violation else { return result }
        return .failure(.protocolViolation(violation))
    }

    mutating func count(_ results: [Request.ItemResult]) {
        for case let failure? in results.lazy.map(\.failure) { self.failures.append(failure) }
    }

    /// The `partialFailure` of the items that failed; `nil` if none did.
    var partialFailure: CKError? {
        guard !self.failures.isEmpty else { return nil }
        let errors = self.failures.map { (AnyHashable($0.id), $0.error) }
        return CKError.partialFailure(
            Dictionary(errors) { first, _ in first },
            message: Request.partialFailureText
        )
    }
}
