internal import RecordClient
private import RecordModel
private import Synchronization
internal import WireProtocol

/// Which items of a request have a result, and which of them failed.
final class ResultTally<Request: BatchRequest>: Sendable {
    private struct Count {
        var failures: [(id: Request.ItemID, error: any Error)] = []
        var hasResult: [Bool]
        /// The fault of a response that can't be read.
        var violation: WireError?
    }

    let request: Request
    /// The address of the server; `nil` if no share comes.
    private let address: String?
    private let counted: Mutex<Count>

    /// `failures` are those of items that had a result before.
    init(
        _ request: Request,
        at address: String? = nil,
        failures: [(id: Request.ItemID, error: any Error)] = []
    ) {
        self.request = request
        self.address = address
        self.counted = Mutex(
            Count(failures: failures, hasResult: Array(repeating: false, count: request.itemCount))
        )
    }

    /// Items that failed so far.
    var failures: [(id: Request.ItemID, error: any Error)] { self.counted.withLock { $0.failures } }

    /// Leaves out items that get their results from another request.
    func leaveOut(_ items: Set<UInt32>) {
        self.counted.withLock { counted in
            for item in items where Int(item) < counted.hasResult.count {
                counted.hasResult[Int(item)] = true
            }
        }
    }

    /// The `partialFailure` of the items that failed; `nil` if none did.
    var partialFailure: CKError? {
        let failures = self.failures
        guard !failures.isEmpty else { return nil }
        let errors = failures.map { (AnyHashable($0.id), $0.error) }
        return CKError.partialFailure(
            Dictionary(errors) { first, _ in first },
            message: Request.partialFailureText
        )
    }

    /// Reads items that arrived.
    ///
    /// Results of items that the request does not have are dropped. So is everything from the first
    /// unreadable result on.
    func read(_ items: [Item], user: String) -> [Request.ItemResult] {
        guard self.counted.withLock({ $0.violation == nil }) else { return [] }
        var results: [Request.ItemResult] = []
        results.reserveCapacity(items.count)
        for item in items {
            do throws(WireError) {
                if let read = try self.request.result(of: item, user: user) { results.append(read) }
            } catch {
                self.counted.withLock { $0.violation = error }
                break
            }
        }
        if let address { for itemResult in results { itemResult.share(Request.share(of:))?.isAt(address) } }
        self.counted.withLock { counted in
            for item in items where Int(item.index) < counted.hasResult.count {
                counted.hasResult[Int(item.index)] = true
            }
        }
        self.count(results)
        return results
    }

    /// Returns failures for the items that the server left without a result.
    func missingResults(user: String) -> [Request.ItemResult] {
        let silent = self.counted.withLock { counted in
            counted.hasResult.indices.filter { !counted.hasResult[$0] }
        }
        let failure = Failure(
            code: .internalError,
            message: "The server sent no result for the item",
            retry: .never
        )
        return self.read(silent.map { Item(index: UInt32($0), outcome: .failure(failure)) }, user: user)
    }

    /// Returns the end of the request, as an error if a part could not be read.
    func judged(_ result: Result<End, ClientError>) -> Result<End, ClientError> {
        guard case .success = result, let violation = self.counted.withLock({ $0.violation }) else {
            return result
        }
        return .failure(.protocolViolation(violation))
    }

    func count(_ results: [Request.ItemResult]) {
        let failures = results.compactMap(\.failure)
        guard !failures.isEmpty else { return }
        self.counted.withLock { $0.failures += failures }
    }
}

extension BatchItemResult {
    /// Returns the share of a result, also that of a conflict.
    fileprivate func share(_ share: (Value) -> CKShare?) -> CKShare? {
        switch self {
        case .value(_, .success(let value)): share(value)
        case .value(_, .failure(let error)): (error as? CKError)?.serverRecord as? CKShare
        case .deletion: nil
        }
    }
}
