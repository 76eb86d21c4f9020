internal import RecordClient

/// Decides about one request, from its start to its end.
///
///     idle ──▶ opening (user's name, uploads) ──▶ sent ──▶ ended
///      │         ▲                              ▲  │
///      │         └── files were lost: a part ───┼──┘
///      └── name known, nothing to upload ───────┘
///
/// From every phase a request may end. After `cancelled`, no phase begins, and work that is
/// reported later is cancelled as well.
///
/// Events become *steps* in order. They run one at a time, where the caller wants it: on a queue,
/// or in the task that awaits the end. The step that runs has the results on loan.
///
/// Work may be over before it is reported: cancelling it does nothing then.
struct RequestStateMachine<Request: BatchRequest>: ~Copyable {
    typealias Step = RequestStep<Request>
    typealias Work = any CKOperation.Work

    enum Phase {
        /// Exits: `opening`, `sent`, `ended`.
        case idle
        /// A task asks for the user's name and uploads files. Exits: `sent`, `ended`.
        case opening
        /// The client has the request. Exits: `opening`, `ended`.
        case sent
        /// No exit.
        case ended
    }

    enum OnStep: Sendable {
        /// Run the steps on the queue.
        case run
        /// Wake the task that runs the steps.
        case wake(CheckedContinuation<Void, Never>)
        case wait
    }

    enum OnWork: Sendable { case proceed, cancel }

    /// The steps to run, and the results that they change.
    struct Loan: Sendable {
        let steps: [Step]
        var results: RequestResults<Request>
    }

    private var phase = Phase.idle
    private(set) var isCancelled = false
    /// The work of the phase: its task or request, and the completions of records.
    private var work: [Work] = []
    /// The steps that wait, in order.
    private var steps: [Step] = []
    /// Whether the queue was told to run steps, or the task must not wait for more.
    private var isDue = false
    /// Whether the task that awaits the end runs the steps; otherwise a queue does.
    private let runsInTask: Bool
    /// That task, while it waits.
    private var task: CheckedContinuation<Void, Never>?
    /// `nil` while they are lent.
    private var results: RequestResults<Request>?

    init(_ request: Request, runsInTask: Bool) {
        self.results = RequestResults(request)
        self.runsInTask = runsInTask
    }

    /// A phase begins, unless the request was cancelled.
    mutating func begins(_ next: Phase) -> OnWork {
        guard !self.isCancelled else { return .cancel }
        switch (self.phase, next) {
        case (.idle, .opening), (.idle, .sent), (.opening, .sent), (.sent, .opening):
            self.phase = next
            self.work = []
            return .proceed
        case (.idle, _), (.opening, _), (.sent, _), (.ended, _):
            preconditionFailure("a request is sent once at a time")
        }
    }

    /// Work of the phase has begun.
    mutating func began(_ work: Work) -> OnWork {
        self.work.append(work)
        return self.isCancelled ? .cancel : .proceed
    }

    /// The caller wants no more.
    ///
    /// - Returns: The work to cancel.
    mutating func cancelled() -> [Work] {
        guard !self.isCancelled, self.phase != .ended else { return [] }
        self.isCancelled = true
        return self.work
    }

    /// The caller gets the end: no step runs after it.
    mutating func ended() {
        self.phase = .ended
        self.work = []
        self.steps = []
    }

    /// Something happened that the caller's side has to deal with.
    mutating func arrived(_ step: Step) -> OnStep {
        guard self.phase != .ended else { return .wait }
        self.steps.append(step)
        guard !self.isDue, self.runsInTask ? step.isUrgent : step.isReported else { return .wait }
        if let task = self.task.take() { return .wake(task) }
        self.isDue = true
        return self.runsInTask ? .wait : .run
    }

    /// The task that runs the steps waits.
    mutating func awaited(by task: CheckedContinuation<Void, Never>) -> OnStep {
        guard !self.isDue else { return .wake(task) }
        self.task = task
        return .wait
    }

    /// The steps of the previous loan have run; `results` are those of that loan.
    ///
    /// - Returns: The steps that wait by now; `nil` if none does.
    mutating func lend(after results: RequestResults<Request>? = nil) -> Loan? {
        if let results { self.results = results }
        guard !self.steps.isEmpty else {
            self.isDue = false
            return nil
        }
        guard let lent = self.results.take() else {
            preconditionFailure("the steps of a request run one at a time")
        }
        defer { self.steps = [] }
        return Loan(steps: self.steps, results: lent)
    }
}

extension Task: CKOperation.Work where Success == Void, Failure == Never {}
extension RequestHandle: CKOperation.Work {}
