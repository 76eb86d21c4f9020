private import Synchronization

/// A request of an app to an engine.
struct SyncJob: Sendable {
    enum Kind: Sendable {
        case fetch(CKSyncEngine.FetchChangesOptions)
        case send(CKSyncEngine.SendChangesOptions)

        var isFetch: Bool {
            switch self {
            case .fetch: true
            case .send: false
            }
        }
    }

    let number: UInt64
    let kind: Kind
    let continuation: CheckedContinuation<Result<Void, CKError>, Never>

    func end(_ error: CKError?) {
        self.continuation.resume(returning: error.map { .failure($0) } ?? .success(()))
    }
}

/// Events from any thread, collected until the engine's worker looks.
///
/// - Bounds: Equal events are one. There are as many jobs as waiting callers.
final class SyncInbox: Sendable {
    /// The events since the worker last looked.
    struct News: Sendable {
        var stateChanged = false
        var notified = false
        var accountMayHaveChanged = false
        var cancelled = false
    }

    private struct State {
        var news = News()
        var isAwake = false
        var sleeper: CheckedContinuation<Void, Never>?
        var jobs: [SyncJob] = []
        var lastJob: UInt64 = 0
        /// The current fetch or send, and the job that it belongs to.
        var running: (job: UInt64?, calls: SyncCalls)?
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Notes an event and wakes the worker.
    func post(_ note: (inout News) -> Void) {
        self.wake { note(&$0.news) }
    }

    func takeEvents() -> News {
        self.state.withLock { state in
            defer { state.news = News() }
            return state.news
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let sleeper = self.state.withLock { state in
            change(&state)
            state.isAwake = true
            return state.sleeper.take()
        }
        sleeper?.resume()
    }

    /// Waits until an event is posted, or was posted since the last wait, or the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isAwake = self.state.withLock { state in
                    if state.isAwake {
                        state.isAwake = false
                        return true
                    }
                    state.sleeper = continuation
                    return false
                }
                if isAwake { continuation.resume() }
            }
        } onCancel: {
            self.wake { _ in }
        }
        self.state.withLock { $0.isAwake = false }
    }

    // MARK: Jobs

    /// Has the worker do a job, and waits for it.
    ///
    /// Cancelling the task cancels the job.
    func perform(_ kind: SyncJob.Kind) async throws(CKError) {
        let number = self.state.withLock { state in
            state.lastJob += 1
            return state.lastJob
        }
        let result: Result<Void, CKError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let job = SyncJob(number: number, kind: kind, continuation: continuation)
                let isAdded = self.state.withLock { state in
                    guard !state.isClosed else { return false }
                    state.jobs.append(job)
                    return true
                }
                if isAdded { self.wake { _ in } } else { job.end(.cancelled) }
                // If the task was cancelled before, its cancellation handler found no job to
                // cancel.
                if Task.isCancelled { self.cancel(number) }
            }
        } onCancel: {
            self.cancel(number)
        }
        try result.get()
    }

    var firstJob: SyncJob? { self.state.withLock { $0.jobs.first } }

    /// Returns a job and makes it the current one; `nil` if its caller gave up.
    func begin(job number: UInt64) -> (job: SyncJob, calls: SyncCalls)? {
        let calls = SyncCalls()
        return self.state.withLock { state in
            guard let index = state.jobs.firstIndex(where: { $0.number == number }) else { return nil }
            state.running = (number, calls)
            return (state.jobs.remove(at: index), calls)
        }
    }

    /// Begins work that no caller has requested.
    func begin() -> SyncCalls {
        let calls = SyncCalls()
        self.state.withLock { $0.running = (nil, calls) }
        return calls
    }

    func ended() { self.state.withLock { $0.running = nil } }

    /// Ends a job that will not be done.
    func refuse(job number: UInt64, _ error: CKError) {
        let job = self.state.withLock { state in
            state.jobs.firstIndex { $0.number == number }.map { state.jobs.remove(at: $0) }
        }
        job?.end(error)
    }

    private func cancel(_ number: UInt64) {
        let (job, calls) = self.state.withLock { state -> (SyncJob?, SyncCalls?) in
            if let index = state.jobs.firstIndex(where: { $0.number == number }) {
                return (state.jobs.remove(at: index), nil)
            }
            return (nil, state.running.flatMap { $0.job == number ? $0.calls : nil })
        }
        job?.end(.cancelled)
        calls?.cancel()
    }

    /// Cancels the current work, the app's jobs, and what was planned.
    func cancelAll() {
        self.post { $0.cancelled = true }
        let (jobs, calls) = self.state.withLock { state in
            defer { state.jobs = [] }
            return (state.jobs, state.running?.calls)
        }
        for job in jobs { job.end(.cancelled) }
        calls?.cancel()
    }

    /// Ends the inbox after its worker: all jobs fail with `operationCancelled`.
    func close() {
        let jobs = self.state.withLock { state in
            state.isClosed = true
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { job.end(.cancelled) }
    }
}
