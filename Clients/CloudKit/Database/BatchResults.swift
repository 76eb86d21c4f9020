internal import WireProtocol

/// The results of a request, by item.
struct BatchResults<Request: BatchRequest>: Sendable {
    var values: [Request.ItemID: Result<Request.Value, any Error>] = [:]
    var deletions: [Request.ItemID: Result<Void, any Error>] = [:]
    /// The items with a value, in order of arrival.
    private(set) var order: [Request.ItemID] = []
    /// The end of the response.
    var end = End()

    init() {}

    /// - Throws: `CKError` if the whole request failed.
    init(_ end: CallEnd<Request>) throws(CKError) {
        switch end {
        case .answered(let results, _, let end):
            for itemResult in results { self.add(itemResult) }
            self.end = end
        case .failed(let error): throw error
        }
    }

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

    var timeouts: Timeouts { self.caller.settings.timeouts }
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
        try BatchResults(await self.call(request).end())
    }

    /// Makes and sends a request, and calls a handler with its results on a queue of its own.
    func deliver<Request: BatchRequest>(
        _ make: () throws(CKError) -> Request,
        to handler: @escaping @Sendable (Result<BatchResults<Request>, any Error>) -> Void
    ) {
        let queue = CallbackQueue(name: "CloudKit.handler")
        let request: Request
        do { request = try make() } catch {
            return queue.run { handler(.failure(error)) }
        }
        let callbacks = RequestCall<Request>.Callbacks(run: { queue.run($0) }) { end in
            handler(Result { try BatchResults(end) })
        }
        self.call(request, callbacks).start()
    }

    private func call<Request: BatchRequest>(
        _ request: Request,
        _ callbacks: RequestCall<Request>.Callbacks? = nil
    ) -> RequestCall<Request> {
        RequestCall(
            request,
            to: self.access,
            timeouts: self.settings.timeouts,
            withFiles: self.settings.withFiles,
            callbacks: callbacks
        )
    }
}
