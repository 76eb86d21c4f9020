internal import RecordClient
private import RecordModel
private import Synchronization
internal import WireProtocol

/// Which items of a request have a result, and which of them failed.
final class AnswerTally<Request: BatchRequest>: Sendable {
    private struct Count {
        var failures: [(id: Request.ItemID, error: any Error)] = []
        var isAnswered: [Bool]
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
            Count(failures: failures, isAnswered: Array(repeating: false, count: request.itemCount))
        )
    }

    /// Items that failed so far.
    var failures: [(id: Request.ItemID, error: any Error)] { self.counted.withLock { $0.failures } }

    /// Leaves out items whose results come from another request.
    func leaveOut(_ items: Set<UInt32>) {
        self.counted.withLock { counted in
            for item in items where Int(item) < counted.isAnswered.count {
                counted.isAnswered[Int(item)] = true
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
    func read(_ items: [Item], user: String) -> [Request.Answer] {
        guard self.counted.withLock({ $0.violation == nil }) else { return [] }
        var answers: [Request.Answer] = []
        for item in items {
            do throws(WireError) {
                if let answer = try self.request.answer(to: item, user: user) { answers.append(answer) }
            } catch {
                self.counted.withLock { $0.violation = error }
                break
            }
        }
        if let address { for answer in answers { answer.share(Request.share(of:))?.isAt(address) } }
        self.counted.withLock { counted in
            for item in items where Int(item.index) < counted.isAnswered.count {
                counted.isAnswered[Int(item.index)] = true
            }
        }
        self.count(answers)
        return answers
    }

    /// Returns failures for the items that the server left without a result.
    func unanswered(user: String) -> [Request.Answer] {
        let silent = self.counted.withLock { counted in
            counted.isAnswered.indices.filter { !counted.isAnswered[$0] }
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

    func count(_ answers: [Request.Answer]) {
        let failures = answers.compactMap(\.failure)
        guard !failures.isEmpty else { return }
        self.counted.withLock { $0.failures += failures }
    }
}

extension ItemAnswer {
    /// Returns the share of a result, also that of a conflict.
    fileprivate func share(_ share: (Value) -> CKShare?) -> CKShare? {
        switch self {
        case .value(_, .success(let value)): share(value)
        case .value(_, .failure(let error)): (error as? CKError)?.serverRecord as? CKShare
        case .deletion: nil
        }
    }
}
