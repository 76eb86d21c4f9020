internal import RecordClient
private import RecordModel
private import Synchronization
internal import WireProtocol

/// The end of a request.
enum CallEnd: Sendable {
    /// Every item has its result; with the `partialFailure` of the items that failed, and the end
    /// of the response.
    case answered(CKError?, End)
    /// The request failed as a whole.
    case failed(CKError)

    /// The error of an operation that ended in this way.
    var error: CKError? {
        switch self {
        case .answered(let error, _): error
        case .failed(let error): error
        }
    }
}

/// One request in flight, from the first connection to its end.
///
/// The files of records to save are uploaded before it. The files of fetched records are downloaded
/// before the records are delivered.
///
/// Results are read, and callers called, where `run` says. That is not the connection's event loop,
/// on which all other requests of the container would wait.
///
/// ```text
/// idle --start--> asking (user's name, once per connection; uploads) --> sent --> ended
///   \----------------------------- cancel --------------------------------^
/// ```
final class RequestCall: CKOperation.Work {
    private enum State {
        /// Exits: `asking`, `sent`, `cancelled`.
        case idle
        /// Exits: `sent`, `cancelled`.
        case asking(Task<Void, Never>)
        /// No exit: the client ends the request.
        case sent(RequestHandle)
        /// No exit.
        case cancelled
    }

    /// Runs a step after the earlier steps; steps that are not urgent may wait for one that is.
    typealias Run = @Sendable (_ isUrgent: Bool, _ step: @escaping @Sendable () -> Void) -> Void

    private let access: ServerAccess
    private let patience: Patience
    private let withFiles: Bool
    private let end: ContinuousClock.Instant
    private let run: Run
    private let state = Mutex(State.idle)
    /// Stops the completion of records.
    private let stopDelivery = Mutex<(@Sendable () -> Void)?>(nil)

    /// With `withFiles`, records come with the files of their assets.
    init(access: ServerAccess, patience: Patience, withFiles: Bool, run: @escaping Run) {
        self.access = access
        self.patience = patience
        self.withFiles = withFiles
        self.end = .now + patience.resource
        self.run = run
    }

    /// Starts; to be called once.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - progress: Called with the moved part of a record's files, below 1, at most ten times a
    ///     second.
    ///   - results: Called with results as they arrive, each item once.
    ///   - end: Called once, last.
    func start<Request: BatchRequest>(
        _ request: Request,
        progress: (@Sendable (CKRecord.ID, Double) -> Void)? = nil,
        results: @escaping @Sendable ([Request.ItemResult]) -> Void,
        end: @escaping @Sendable (CallEnd) -> Void
    ) {
        let listeners = Listeners<Request>(progress: progress, results: results, end: end)
        guard request.needsServer || request.needsUpload else {
            return self.endHere(request, listeners)
        }
        let session: ServerAccess.Session
        do { session = try self.access.session() } catch {
            if !request.localResults.isEmpty { self.run(false) { results(request.localResults) } }
            return self.run(true) { end(.failed(error)) }
        }
        if !request.needsUpload, let user = session.userIfOpen {
            return self.send(request, session: session, user: user, listeners)
        }
        self.ask(request, over: session, listeners)
    }

    /// Asks for the user's name and uploads files, then sends the request.
    private func ask<Request: BatchRequest>(
        _ request: Request,
        over session: ServerAccess.Session,
        _ listeners: Listeners<Request>
    ) {
        let end = listeners.end
        let wasCancelled = self.state.withLock { state in
            if case .cancelled = state { return true }
            state = .asking(
                Task {
                    do throws(CKError) {
                        let user = try await session.open(self.patience)
                        let ready = try await self.upload(request, over: session.client, listeners)
                        self.send(ready, session: session, user: user, listeners)
                    } catch {
                        self.run(true) { end(.failed(error)) }
                    }
                }
            )
            return false
        }
        if wasCancelled { self.run(true) { end(.failed(.cancelled)) } }
    }

    private struct Listeners<Request: BatchRequest>: Sendable {
        var progress: (@Sendable (CKRecord.ID, Double) -> Void)?
        var results: @Sendable ([Request.ItemResult]) -> Void
        var end: @Sendable (CallEnd) -> Void
        /// The failures of items that had a result before, if a part of the request is sent again.
        var failures: [(id: Request.ItemID, error: any Error)] = []
        /// How often a part was sent again.
        var repeats = 0
    }

    /// How often files that the server has lost are uploaded again.
    private static let repeatsMax = 2

    /// Ends a request that has nothing left to send.
    private func endHere<Request: BatchRequest>(_ request: Request, _ listeners: Listeners<Request>) {
        let tally = ResultTally(request, failures: listeners.failures)
        tally.count(request.localResults)
        self.run(true) {
            if !request.localResults.isEmpty { listeners.results(request.localResults) }
            listeners.end(.answered(tally.partialFailure, End()))
        }
    }

    private func upload<Request: BatchRequest>(
        _ request: Request,
        over client: RecordClient,
        _ listeners: Listeners<Request>
    ) async throws(CKError) -> Request {
        guard request.needsUpload else { return request }
        let uploads = AssetUploads(client: client, patience: self.patience, end: self.end) { id in
            TransferMeter(run: { self.run(false, $0) }, report: { listeners.progress?(id, $0) })
        }
        return try await request.uploading(by: uploads)
    }

    /// Ends the request with `operationCancelled` unless it has ended.
    func cancel() {
        let state = self.state.withLock { state in
            defer { state = .cancelled }
            return state
        }
        switch state {
        case .idle, .cancelled: break
        case .asking(let task): task.cancel()
        case .sent(let handle): handle.cancel()
        }
        self.stopDelivery.withLock { $0 }?()
    }

    private func send<Request: BatchRequest>(
        _ request: Request,
        session: ServerAccess.Session,
        user: String,
        _ listeners: Listeners<Request>
    ) {
        guard request.needsServer else { return self.endHere(request, listeners) }
        let tally = ResultTally(request, at: session.address, failures: listeners.failures)
        if !request.localResults.isEmpty {
            tally.count(request.localResults)
            self.run(false) { listeners.results(request.localResults) }
        }
        let end = listeners.end
        let held = HeldItems(holds: request.hasUploads && listeners.repeats < Self.repeatsMax)
        let operation: RequestModel
        do { operation = try request.operation(user: user) } catch {
            return self.run(true) { end(.failed(error)) }
        }
        if self.state.withLock({ if case .cancelled = $0 { true } else { false } }) {
            return self.run(true) { end(.failed(.cancelled)) }
        }
        let delivery = self.delivery(of: tally, session: session, user: user, listeners)
        let notes = LedgerNotes(request, session.ledgers, user: user)
        let handle = session.client.start(
            operation,
            requestTimeout: self.patience.request,
            resourceTimeout: self.patience.resource,
            // After an upload the request may wait as long as the upload did.
            connectionTimeout: request.hasUploads ? self.patience.request : self.patience.connection
        ) { items in
            self.run(false) {
                let results = tally.read(held.passing(items), user: user)
                notes?.add(results)
                delivery.add(results)
            }
        } end: { result in
            self.run(true) {
                let refused = held.take()
                switch tally.judged(result) {
                case .success(let last):
                    let again = request.again(refused: refused)
                    if let again { tally.leaveOut(again.items) }
                    let rest = refused.filter { again?.items.contains($0.index) != true }
                    delivery.add(tally.read(rest, user: user))
                    delivery.add(tally.missingResults(user: user))
                    delivery.add(notes?.ended(last) ?? [])
                    delivery.finish {
                        if let again, !delivery.isCancelled {
                            return self.repeatPart(again.request, over: session, listeners, after: tally)
                        }
                        end(
                            delivery.isCancelled ? .failed(.cancelled) : .answered(tally.partialFailure, last)
                        )
                    }
                case .failure(let error):
                    session.note(error)
                    delivery.add(tally.read(refused, user: user))
                    notes?.failed(CKError(error))
                    delivery.finish { end(.failed(CKError(error.about(request.subject)))) }
                }
            }
        }
        let wasCancelled = self.state.withLock { state in
            if case .cancelled = state { return true }
            state = .sent(handle)
            return false
        }
        if wasCancelled { handle.cancel() }
    }

    /// Sends refused items again after the server has lost their uploaded files.
    private func repeatPart<Request: BatchRequest>(
        _ part: Request,
        over session: ServerAccess.Session,
        _ listeners: Listeners<Request>,
        after tally: ResultTally<Request>
    ) {
        var listeners = listeners
        listeners.failures = tally.failures
        listeners.repeats += 1
        self.ask(part, over: session, listeners)
    }

    private func delivery<Request: BatchRequest>(
        of tally: ResultTally<Request>,
        session: ServerAccess.Session,
        user: String,
        _ listeners: Listeners<Request>
    ) -> ResultDelivery<Request> {
        let completion = self.completion(of: tally.request, session: session, user: user)
        let delivery = ResultDelivery(
            tally,
            completion: completion,
            run: self.run,
            progress: listeners.progress,
            results: listeners.results
        )
        if completion != nil { self.stopDelivery.withLock { $0 = { delivery.cancel() } } }
        return delivery
    }

    /// Returns what completes the records of the results.
    private func completion<Request: BatchRequest>(
        of request: Request,
        session: ServerAccess.Session,
        user: String
    ) -> (any RecordCompletion)? {
        if let scope = request.sharesSavedIn {
            return ShareRefresh(
                client: session.client,
                scope: scope,
                user: user,
                address: session.address,
                patience: self.patience,
                end: self.end
            )
        }
        guard self.withFiles, let source = request.assetSource else { return nil }
        return AssetDownloads(
            client: session.client,
            cache: session.cache,
            source: source,
            user: user,
            patience: self.patience,
            end: self.end
        )
    }
}
