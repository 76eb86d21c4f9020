internal import RecordClient
private import RecordModel
private import Synchronization
internal import WireProtocol

/// How a request ended.
enum CallEnd: Sendable {
    /// Every item has its answer; with the `partialFailure` that gathers those that failed, and with what the server said last.
    case answered(CKError?, End)
    /// The request failed as a whole.
    case failed(CKError)

    /// The error of an operation that ended so.
    var error: CKError? {
        switch self {
        case .answered(let error, _): error
        case .failed(let error): error
        }
    }
}

/// One request on its way, from the first connection to its end.
///
/// Answers are read, and its callers called, where `run` says and not on the connection's event loop, where all other
/// requests of the container would wait for it.
///
/// ```text
/// idle --start--> asking (for the user's name, once a connection) --> sent --> ended
///   \------------------------------- cancel --------------------------------^
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

    /// Runs a step after those that were given to it before; after the last one none follows.
    typealias Run = @Sendable (_ isLast: Bool, _ step: @escaping @Sendable () -> Void) -> Void

    private let access: ServerAccess
    private let patience: Patience
    private let run: Run
    private let state = Mutex(State.idle)

    init(access: ServerAccess, patience: Patience, run: @escaping Run) {
        self.access = access
        self.patience = patience
        self.run = run
    }

    /// Starts; to be called once.
    ///
    /// - Parameters:
    ///   - request: What to ask.
    ///   - answers: Called with answers as they arrive, each item once.
    ///   - end: Called once, last.
    func start<Request: BatchRequest>(
        _ request: Request,
        answers: @escaping @Sendable ([Request.Answer]) -> Void,
        end: @escaping @Sendable (CallEnd) -> Void
    ) {
        let tally = AnswerTally(request)
        if !request.answeredHere.isEmpty {
            tally.count(request.answeredHere)
            self.run(false) { answers(request.answeredHere) }
        }
        guard request.needsServer else {
            return self.run(true) { end(.answered(tally.partialFailure, End())) }
        }
        let session: ServerAccess.Session
        do { session = try self.access.session() } catch { return self.run(true) { end(.failed(error)) } }
        if let user = session.userIfOpen {
            self.send(tally, session: session, user: user, answers: answers, end: end)
            return
        }
        let wasCancelled = self.state.withLock { state in
            guard case .idle = state else { return true }
            state = .asking(
                Task {
                    do throws(CKError) {
                        let user = try await session.open(timeout: self.patience.request)
                        self.send(tally, session: session, user: user, answers: answers, end: end)
                    } catch {
                        self.run(true) { end(.failed(error)) }
                    }
                }
            )
            return false
        }
        if wasCancelled { self.run(true) { end(.failed(.cancelled)) } }
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
    }

    private func send<Request: BatchRequest>(
        _ tally: AnswerTally<Request>,
        session: ServerAccess.Session,
        user: String,
        answers: @escaping @Sendable ([Request.Answer]) -> Void,
        end: @escaping @Sendable (CallEnd) -> Void
    ) {
        let operation: RequestModel
        do { operation = try tally.request.operation(user: user) } catch {
            return self.run(true) { end(.failed(error)) }
        }
        if self.state.withLock({ if case .cancelled = $0 { true } else { false } }) {
            return self.run(true) { end(.failed(.cancelled)) }
        }
        let handle = session.client.start(
            operation,
            requestTimeout: self.patience.request,
            resourceTimeout: self.patience.resource
        ) { items in
            self.run(false) {
                let batch = tally.read(items, user: user)
                if !batch.isEmpty { answers(batch) }
            }
        } end: { result in
            self.run(true) {
                let last: End
                switch result {
                case .success(let said): last = said
                case .failure(let error):
                    session.heard(error)
                    return end(.failed(CKError(error)))
                }
                let silent = tally.unanswered(user: user)
                if !silent.isEmpty { answers(silent) }
                end(.answered(tally.partialFailure, last))
            }
        }
        let wasCancelled = self.state.withLock { state in
            if case .cancelled = state { return true }
            state = .sent(handle)
            return false
        }
        if wasCancelled { handle.cancel() }
    }
}
