private import RecordClient
private import Synchronization
private import WireProtocol

/// One request in flight, from the first connection to its end.
///
/// `RequestStateMachine` decides, and this class acts outside its lock. Results are read, and
/// callers called, in steps. Those run on a queue or in the task that awaits the end, and never on
/// the connection's event loop, on which all other requests of the container would wait.
final class RequestCall<Request: BatchRequest>: CKOperation.Work {
    /// Callbacks that run on a queue.
    struct Callbacks: Sendable {
        /// Runs closures in order, one at a time.
        let run: @Sendable (@escaping @Sendable () -> Void) -> Void
        /// Called with the moved part of a record's files, below 1, at most ten times a second.
        var progress: (@Sendable (CKRecord.ID, Double) -> Void)?
        /// Called with results as they arrive, each item once; `nil` if `end` gets all of them.
        var results: (@Sendable ([Request.ItemResult]) -> Void)?
        /// Called once, last.
        let end: @Sendable (CallEnd<Request>) -> Void
    }

    private typealias Machine = RequestStateMachine<Request>

    private let request: Request
    private let access: ServerAccess
    private let timeouts: Timeouts
    private let withFiles: Bool
    private let deadline: ContinuousClock.Instant
    /// `nil` if a task awaits the end.
    private let callbacks: Callbacks?
    private let machine: Mutex<Machine>

    /// Makes a call that starts later; without callbacks, a task must await `end`.
    ///
    /// With `withFiles`, fetched records come with the files of their assets.
    init(
        _ request: Request,
        to access: ServerAccess,
        timeouts: Timeouts,
        withFiles: Bool,
        callbacks: Callbacks? = nil
    ) {
        self.request = request
        self.access = access
        self.timeouts = timeouts
        self.withFiles = withFiles
        self.deadline = .now + timeouts.resource
        self.callbacks = callbacks
        self.machine = Mutex(Machine(request, runsInTask: callbacks == nil))
    }

    /// Starts; to be called once.
    func start() {
        var attempt = RequestAttempt(request: self.request, roles: self.request.roles)
        do throws(CKError) {
            if self.request.itemCount != 0 { attempt.session = try self.access.session() }
            self.open(attempt)
        } catch {
            self.end(attempt, .failed(error))
        }
    }

    /// Ends the request with `operationCancelled` unless it has ended.
    func cancel() {
        for work in self.machine.withLock({ $0.cancelled() }) { work.cancel() }
    }

    /// Starts, and runs the steps in the caller's task until the end; to be called once.
    ///
    /// Cancelling the task cancels the request.
    nonisolated(nonsending) func end() async -> CallEnd<Request> {
        if Task.isCancelled { self.cancel() }
        self.start()
        return await withTaskCancellationHandler {
            while true {
                await withCheckedContinuation { task in
                    self.perform(self.machine.withLock { $0.awaited(by: task) })
                }
                if let end = self.runSteps() { return end }
            }
        } onCancel: {
            self.cancel()
        }
    }
}

// MARK: - Phases

extension RequestCall {
    /// Asks for the user's name and uploads files, if that is needed, and sends the request.
    private func open(_ attempt: RequestAttempt<Request>) {
        guard let session = attempt.session else { return self.end(attempt, .ended(.success(End()))) }
        var upload: (@Sendable (AssetUploads) async throws(CKError) -> Request)?
        if case .missing(let missing)? = attempt.roles.files { upload = missing }
        if upload == nil, let user = session.userIfOpen {
            return self.send(attempt, over: session, as: user)
        }
        guard self.machine.withLock({ $0.begins(.opening) }) == .proceed else {
            return self.post(.failed(.cancelled))
        }
        let task = Task { [upload] in
            do throws(CKError) {
                let user = try await session.open(self.timeouts)
                guard let upload else { return self.send(attempt, over: session, as: user) }
                let uploads = AssetUploads(
                    client: session.client,
                    timeouts: self.timeouts,
                    end: self.deadline,
                    progress: { self.meter($0) }
                )
                let ready = try await upload(uploads)
                let uploaded = RequestAttempt(request: ready, roles: ready.roles, session: session)
                self.send(uploaded, over: session, as: user)
            } catch {
                self.post(.failed(error))
            }
        }
        self.began(task)
    }

    private func send(
        _ opened: RequestAttempt<Request>,
        over session: ServerAccess.Session,
        as user: String
    ) {
        guard opened.request.itemCount != 0 else { return self.end(opened, .ended(.success(End()))) }
        let operation: RequestModel
        do { operation = try opened.request.operation(user: user) } catch {
            return self.end(opened, .failed(error))
        }
        guard self.machine.withLock({ $0.begins(.sent) }) == .proceed else {
            return self.end(opened, .failed(.cancelled))
        }
        var attempt = opened
        attempt.user = user
        attempt.completion = self.completion(of: attempt.roles.records, over: session, as: user)
        self.post(.sending(attempt))
        let handle = session.client.start(
            operation,
            requestTimeout: self.timeouts.request,
            resourceTimeout: self.timeouts.resource,
            // After an upload the request may wait as long as the upload did.
            connectionTimeout: attempt.roles.files == nil ? self.timeouts.connection : self.timeouts.request,
            items: { self.post(.received($0)) },
            end: { self.post(.ended($0)) }
        )
        self.began(handle)
    }

    /// Ends a request that is not sent, after the results of the items that the client has refused.
    private func end(_ attempt: RequestAttempt<Request>, _ end: RequestStep<Request>) {
        self.post(.sending(attempt))
        self.post(end)
    }

    private func began(_ work: any CKOperation.Work) {
        if self.machine.withLock({ $0.began(work) }) == .cancel { work.cancel() }
    }

    /// Returns what completes the records of the results.
    private func completion(
        of records: RecordRole<Request.Value>?,
        over session: ServerAccess.Session,
        as user: String
    ) -> (any RecordCompletion)? {
        let (timeouts, end) = (self.timeouts, self.deadline)
        return switch records?.completion {
        case .shares(let scope)?:
            ShareRefresh(session: session, scope: scope, user: user, timeouts: timeouts, end: end)
        case .files(let source)? where self.withFiles:
            AssetDownloads(session: session, source: source, user: user, timeouts: timeouts, end: end)
        case .files?, nil: nil
        }
    }
}

// MARK: - Steps

extension RequestCall {
    private func post(_ step: RequestStep<Request>) {
        self.perform(self.machine.withLock { $0.arrived(step) })
    }

    private func perform(_ action: Machine.OnStep) {
        switch action {
        case .wake(let task): task.resume()
        case .wait: break
        case .run: self.callbacks?.run { if let end = self.runSteps() { self.callbacks?.end(end) } }
        }
    }

    /// Runs the steps that wait.
    ///
    /// - Returns: The end of the request; `nil` if there will be more steps.
    private func runSteps() -> CallEnd<Request>? {
        var loan = self.machine.withLock { $0.lend() }
        while var lent = loan.take() {
            for step in lent.steps {
                guard let end = self.run(step, &lent.results) else { continue }
                self.machine.withLock { $0.ended() }
                return end
            }
            loan = self.machine.withLock { $0.lend(after: lent.results) }
        }
        return nil
    }

    private func run(
        _ step: RequestStep<Request>,
        _ results: inout RequestResults<Request>
    ) -> CallEnd<Request>? {
        let ready = results.run(step)
        if let completion = results.attempt.completion {
            for incomplete in results.startCompletions() { self.complete(incomplete, by: completion) }
        }
        if !ready.isEmpty {
            if let report = self.callbacks?.results { report(ready) } else { results.gather(ready) }
        }
        switch results.takeEnding(isCancelled: { self.machine.withLock { $0.isCancelled } }) {
        case .answered(let end): return .answered(results.gathered, results.partialFailure, end)
        case .failed(let error): return .failed(error)
        case .again(let part):
            self.open(RequestAttempt(request: part, roles: part.roles, session: results.attempt.session))
        case nil: break
        }
        return nil
    }

    private func complete(
        _ incomplete: ResultOrder<Request>.Incomplete,
        by completion: any RecordCompletion
    ) {
        let meter = self.meter(incomplete.record.recordID)
        let task = Task {
            do throws(CKError) {
                let record = try await completion.complete(incomplete.record, meter: meter)
                self.post(.completed(incomplete.number, .success(record)))
            } catch {
                self.post(.completed(incomplete.number, .failure(error)))
            }
        }
        self.began(task)
    }

    /// Makes the meter of a record's files.
    private func meter(_ id: CKRecord.ID) -> TransferMeter {
        guard let progress = self.callbacks?.progress else {
            return TransferMeter(run: { _ in }, report: { _ in })
        }
        return TransferMeter(run: { self.post(.progress($0)) }, report: { progress(id, $0) })
    }
}
