private import Synchronization

/// The answers to a request, by item.
struct BatchResults<Request: BatchRequest>: Sendable {
    var values: [Request.ItemID: Result<Request.Value, any Error>] = [:]
    var deletions: [Request.ItemID: Result<Void, any Error>] = [:]

    mutating func add(_ answer: Request.Answer) {
        switch answer {
        case .value(let id, let result): self.values[id] = result
        case .deletion(let id, let result): self.deletions[id] = result
        }
    }

    /// The value of a request for one item, or that item's own error.
    var onlyValue: Result<Request.Value, any Error> {
        self.values.first?.value ?? .failure(CKError.answerOfAnotherKind)
    }

    /// The ID of a request to delete one item, or that item's own error.
    var onlyDeletion: Result<Request.ItemID, any Error> {
        self.deletions.first.map { id, result in result.map { id } } ?? .failure(CKError.answerOfAnotherKind)
    }
}

extension CKDatabase {
    /// Makes and sends a request.
    ///
    /// - Parameters:
    ///   - call: What the request can be cancelled by.
    ///   - make: Makes the request, or says why there is none.
    ///   - completion: Called once, on any thread: results by item, or why the request failed as a whole.
    func start<Request: BatchRequest>(
        _ call: RequestCall,
        _ make: (DatabaseScopeModel) throws(CKError) -> Request,
        completion: @escaping @Sendable (Result<BatchResults<Request>, any Error>) -> Void
    ) {
        let request: Request
        do { request = try make(self.scopeModel) } catch { return completion(.failure(error)) }
        let gathered = Gathered<Request>()
        call.start(request) { answers in
            gathered.results.withLock { results in
                for answer in answers { results.add(answer) }
            }
        } end: { end in
            switch end {
            case .answered: completion(.success(gathered.results.withLock { $0 }))
            case .failed(let error): completion(.failure(error))
            }
        }
    }

    /// Makes and sends a request, and awaits its answers.
    func results<Request: BatchRequest>(
        _ make: (DatabaseScopeModel) throws(CKError) -> Request
    ) async throws -> BatchResults<Request> {
        let call = self.call()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                self.start(call, make) { continuation.resume(with: $0) }
            }
        } onCancel: {
            call.cancel()
        }
    }

    /// Makes and sends a request whose results go to a handler, on a queue of its own.
    func deliver<Request: BatchRequest>(
        _ make: (DatabaseScopeModel) throws(CKError) -> Request,
        to handler: @escaping @Sendable (Result<BatchResults<Request>, any Error>) -> Void
    ) {
        let callbacks = CallbackQueue(name: "CKDatabase.handler")
        self.start(self.call(), make) { result in callbacks.run { handler(result) } }
    }

    private func call() -> RequestCall {
        let settings = self.settings.over(self.group?.defaultConfiguration.settings)
        return RequestCall(access: self.access, patience: settings.patience)
    }
}

/// Answers gathered from whatever thread they come on.
private final class Gathered<Request: BatchRequest>: Sendable {
    let results = Mutex(BatchResults<Request>())
}
