private import Synchronization
internal import WireProtocol

/// The results of a request, by item.
struct BatchResults<Request: BatchRequest>: Sendable {
    var values: [Request.ItemID: Result<Request.Value, any Error>] = [:]
    var deletions: [Request.ItemID: Result<Void, any Error>] = [:]
    /// The items with a value, in order of arrival.
    private(set) var order: [Request.ItemID] = []
    /// The end of the response.
    var end = End()

    mutating func add(_ itemResult: Request.ItemResult) {
        switch itemResult {
        case .value(let id, let result):
            if self.values.updateValue(result, forKey: id) == nil { self.order.append(id) }
        case .deletion(let id, let result): self.deletions[id] = result
        }
    }

    /// The value of a request for one item, or that item's own error.
    var onlyValue: Result<Request.Value, any Error> {
        self.values.first?.value ?? .failure(CKError.resultOfAnotherKind)
    }

    /// The ID of a request to delete one item, or that item's own error.
    var onlyDeletion: Result<Request.ItemID, any Error> {
        self.deletions.first.map { id, result in result.map { id } } ?? .failure(CKError.resultOfAnotherKind)
    }
}

extension CKDatabase {
    /// Makes and sends a request, and awaits its results.
    ///
    /// Both happen before the first suspension, so that requests of one actor are sent in the
    /// order of its calls, with what their records had then.
    nonisolated(nonsending) func results<Request: BatchRequest>(
        _ make: (DatabaseScopeModel) throws(CKError) -> Request
    ) async throws -> BatchResults<Request> {
        try await self.caller.results(try make(self.scopeModel))
    }

    /// Makes and sends a request, and calls a handler with its results on a queue of its own.
    func deliver<Request: BatchRequest>(
        _ make: (DatabaseScopeModel) throws(CKError) -> Request,
        to handler: @escaping @Sendable (Result<BatchResults<Request>, any Error>) -> Void
    ) {
        let scope = self.scopeModel
        self.caller.deliver({ () throws(CKError) in try make(scope) }, to: handler)
    }

    private var caller: RequestCaller {
        RequestCaller(access: self.access, settings: self.settings, group: self.group)
    }

    var patience: Patience { self.caller.settings.patience }
}

/// The settings with which the methods of databases and containers make requests.
struct RequestCaller {
    let access: ServerAccess
    let settings: OperationSettings

    init(access: ServerAccess, settings: OperationSettings, group: CKOperationGroup?) {
        self.access = access
        self.settings = settings.over(group?.defaultConfiguration.settings)
    }

    /// Sends a request and awaits its results.
    ///
    /// The awaiting task reads them.
    nonisolated(nonsending) func results<Request: BatchRequest>(
        _ request: Request
    ) async throws -> BatchResults<Request> {
        let gathered = Gathered<Request>()
        let steps = PendingSteps()
        let call = self.call { isUrgent, step in steps.add(step, isUrgent: isUrgent) }
        if Task.isCancelled { call.cancel() }
        gathered.start(call, request) {}
        await withTaskCancellationHandler {
            while !gathered.hasEnded {
                for step in await steps.next() { step() }
            }
        } onCancel: {
            call.cancel()
        }
        return try gathered.results()
    }

    /// Makes and sends a request, and calls a handler with its results on a queue of its own.
    func deliver<Request: BatchRequest>(
        _ make: () throws(CKError) -> Request,
        to handler: @escaping @Sendable (Result<BatchResults<Request>, any Error>) -> Void
    ) {
        let callbacks = CallbackQueue(name: "CloudKit.handler")
        let request: Request
        do { request = try make() } catch {
            return callbacks.run { handler(.failure(error)) }
        }
        let gathered = Gathered<Request>()
        let call = self.call { _, step in callbacks.run(step) }
        gathered.start(call, request) { handler(Result { try gathered.results() }) }
    }

    private func call(run: @escaping RequestCall.Run) -> RequestCall {
        RequestCall(
            access: self.access,
            patience: self.settings.patience,
            withFiles: self.settings.withFiles,
            run: run
        )
    }
}

/// Steps that wait for the task that runs them; an urgent step wakes the task.
private final class PendingSteps: Sendable {
    private struct State {
        var steps: [@Sendable () -> Void] = []
        var isUrgent = false
        var waiting: CheckedContinuation<[@Sendable () -> Void], Never>?
    }

    private let state = Mutex(State())

    func add(_ step: @escaping @Sendable () -> Void, isUrgent: Bool) {
        let woken = self.state.withLock { state in
            state.steps.append(step)
            state.isUrgent = state.isUrgent || isUrgent
            return self.take(&state)
        }
        woken?.0.resume(returning: woken?.1 ?? [])
    }

    /// Returns the steps up to an urgent one, in order.
    func next() async -> [@Sendable () -> Void] {
        await withCheckedContinuation { continuation in
            let woken = self.state.withLock { state in
                state.waiting = continuation
                return self.take(&state)
            }
            woken?.0.resume(returning: woken?.1 ?? [])
        }
    }

    private func take(
        _ state: inout State
    ) -> (CheckedContinuation<[@Sendable () -> Void], Never>, [@Sendable () -> Void])? {
        guard state.isUrgent, let waiting = state.waiting.take() else { return nil }
        defer {
            state.steps = []
            state.isUrgent = false
        }
        return (waiting, state.steps)
    }
}

/// The results of a request, collected step by step.
private final class Gathered<Request: BatchRequest>: Sendable {
    private struct State {
        var results = BatchResults<Request>()
        var failure: CKError?
        var hasEnded = false
    }

    private let state = Mutex(State())

    var hasEnded: Bool { self.state.withLock { $0.hasEnded } }

    /// Starts; `ended` is called last.
    func start(_ call: RequestCall, _ request: Request, ended: @escaping @Sendable () -> Void) {
        call.start(request) { results in
            self.state.withLock { state in
                for itemResult in results { state.results.add(itemResult) }
            }
        } end: { end in
            self.state.withLock { state in
                switch end {
                case .answered(_, let last): state.results.end = last
                case .failed(let error): state.failure = error
                }
                state.hasEnded = true
            }
            ended()
        }
    }

    /// Returns the results when all steps have run.
    ///
    /// - Throws: `CKError` if the whole request failed.
    func results() throws(CKError) -> BatchResults<Request> {
        let state = self.state.withLock { $0 }
        if let failure = state.failure { throw failure }
        return state.results
    }
}
