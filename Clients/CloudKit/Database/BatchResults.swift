private import Synchronization
internal import WireProtocol

/// The answers to a request, by item.
struct BatchResults<Request: BatchRequest>: Sendable {
    var values: [Request.ItemID: Result<Request.Value, any Error>] = [:]
    var deletions: [Request.ItemID: Result<Void, any Error>] = [:]
    /// What has a value, in order of arrival.
    private(set) var order: [Request.ItemID] = []
    /// What the server said last.
    var end = End()

    mutating func add(_ answer: Request.Answer) {
        switch answer {
        case .value(let id, let result):
            if self.values.updateValue(result, forKey: id) == nil { self.order.append(id) }
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
    /// Makes and sends a request, and awaits its answers.
    ///
    /// They are read by the task that awaits them.
    func results<Request: BatchRequest>(
        _ make: (DatabaseScopeModel) throws(CKError) -> Request
    ) async throws -> BatchResults<Request> {
        let request = try make(self.scopeModel)
        let gathered = Gathered<Request>()
        let steps = Mutex<[@Sendable () -> Void]>([])
        let last = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let call = self.call { isLast, step in
            steps.withLock { $0.append(step) }
            if isLast { last.withLock { $0.take() }?.resume() }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                last.withLock { $0 = continuation }
                gathered.start(call, request)
            }
        } onCancel: {
            call.cancel()
        }
        for step in steps.withLock({ $0 }) { step() }
        return try gathered.results()
    }

    /// Makes and sends a request whose results go to a handler, on a queue of its own.
    func deliver<Request: BatchRequest>(
        _ make: (DatabaseScopeModel) throws(CKError) -> Request,
        to handler: @escaping @Sendable (Result<BatchResults<Request>, any Error>) -> Void
    ) {
        let callbacks = CallbackQueue(name: "CKDatabase.handler")
        let request: Request
        do { request = try make(self.scopeModel) } catch {
            return callbacks.run { handler(.failure(error)) }
        }
        let gathered = Gathered<Request>()
        let call = self.call { isLast, step in
            callbacks.run {
                step()
                if isLast { handler(Result { try gathered.results() }) }
            }
        }
        gathered.start(call, request)
    }

    private func call(run: @escaping RequestCall.Run) -> RequestCall {
        let settings = self.settings.over(self.group?.defaultConfiguration.settings)
        return RequestCall(access: self.access, patience: settings.patience, run: run)
    }
}

/// What became of a request, gathered step by step.
private final class Gathered<Request: BatchRequest>: Sendable {
    private struct State {
        var results = BatchResults<Request>()
        var failure: CKError?
    }

    private let state = Mutex(State())

    func start(_ call: RequestCall, _ request: Request) {
        call.start(request) { answers in
            self.state.withLock { state in
                for answer in answers { state.results.add(answer) }
            }
        } end: { end in
            self.state.withLock { state in
                switch end {
                case .answered(_, let last): state.results.end = last
                case .failed(let error): state.failure = error
                }
            }
        }
    }

    /// The results when all steps have run.
    ///
    /// - Throws: Why the request as a whole failed.
    func results() throws(CKError) -> BatchResults<Request> {
        let state = self.state.withLock { $0 }
        if let failure = state.failure { throw failure }
        return state.results
    }
}
