/// Decides what an engine does next: check the account, subscribe, fetch, send, or wait.
///
/// It is pure: it is given events and the time, and returns one step at a time. The next step is
/// requested when that is done.
///
/// ```text
/// account:   unknown --signed in--> signedIn --notAuthenticated, event--> unknown
///               ^ \------signed out--> signedOut --event, pause over--/
/// automatic: subscribe (once per sign-in) -> fetch (start, notification) -> send (pending) -> wait
/// ```
///
/// The app's jobs come first, and no pause delays them.
struct SyncMachine: Sendable {
    enum Step: Equatable, Sendable {
        /// Check who is signed in; with a job, on its behalf: the job fails if that is impossible.
        case checkAccount(job: UInt64?)
        /// Make sure that the server sends notifications.
        case subscribe
        case fetch
        case send
        /// Do the app's job.
        case run(job: UInt64)
        /// Refuse the app's job, because no user is signed in.
        case refuse(job: UInt64)
        /// Wait until an event, or until a time.
        case wait(until: ContinuousClock.Instant?)
    }

    private enum Account: Equatable {
        case unknown
        case signedIn
        case signedOut
    }

    private let isAutomatic: Bool
    private var account = Account.unknown
    private var needsSubscription: Bool
    private var wantsFetch: Bool
    private var wantsSend: Bool
    private var accountPause: RetryPause
    private var subscriptionPause: RetryPause
    private var fetchPause: RetryPause
    private var sendPause: RetryPause
    /// The job for which the account was already checked.
    private var checkedJob: UInt64?

    init(isAutomatic: Bool, pace: RetryPause.Pace = .usual) {
        self.isAutomatic = isAutomatic
        self.needsSubscription = isAutomatic
        self.wantsFetch = isAutomatic
        self.wantsSend = isAutomatic
        self.accountPause = RetryPause(pace: pace)
        self.subscriptionPause = RetryPause(pace: pace)
        self.fetchPause = RetryPause(pace: pace)
        self.sendPause = RetryPause(pace: pace)
    }

    // MARK: What happened

    /// Notes that the app changed what is pending.
    mutating func stateChanged() { self.wantsSend = self.isAutomatic }

    /// Notes that the server reported a change.
    mutating func notified() { self.wantsFetch = self.isAutomatic }

    /// Notes that the server's response to the token may have changed.
    mutating func accountMayHaveChanged() {
        self.account = .unknown
        self.accountPause.succeeded()
    }

    mutating func signedIn() {
        // A pause stays: the server may accept the token and refuse the subscription for it.
        if self.account != .signedIn, self.isAutomatic { self.needsSubscription = true }
        self.account = .signedIn
        self.accountPause.succeeded()
    }

    /// Notes that the user changed: everything starts again.
    mutating func userChanged() {
        self.wantsFetch = self.isAutomatic
        self.wantsSend = self.isAutomatic
        self.fetchPause.succeeded()
        self.sendPause.succeeded()
        self.subscriptionPause.succeeded()
        self.needsSubscription = self.isAutomatic
    }

    mutating func signedOut(now: ContinuousClock.Instant, jitter: Double) {
        self.account = .signedOut
        self.accountPause.failed(advice: nil, now: now, jitter: jitter)
    }

    mutating func accountFailed(_ error: CKError, now: ContinuousClock.Instant, jitter: Double) {
        self.account = .unknown
        self.accountPause.failed(advice: error.pause, now: now, jitter: jitter)
    }

    /// Notes that the server sends notifications from now on, or the error.
    mutating func subscribed(_ error: CKError?, now: ContinuousClock.Instant, jitter: Double) {
        guard let error, error.isTransient || error.code == .operationCancelled else {
            // The next engine tries again what was refused for good.
            self.needsSubscription = false
            self.subscriptionPause.succeeded()
            return
        }
        self.subscriptionPause.failed(advice: error.pause, now: now, jitter: jitter)
        self.doubtAccount(error)
    }

    /// Notes that everything was fetched, or the error for which to fetch again.
    mutating func fetched(_ error: CKError?, now: ContinuousClock.Instant, jitter: Double) {
        guard let error else { return self.fetchPause.succeeded() }
        self.wantsFetch = self.isAutomatic
        // A caller that cancels its own job cancels nothing that was planned.
        guard error.code != .operationCancelled else { return }
        self.fetchPause.failed(advice: error.pause, now: now, jitter: jitter)
        self.doubtAccount(error)
    }

    /// Notes that everything was sent, or that the send ended early and there may be more.
    ///
    /// The engine continues at once if any item succeeded and no error asks for time. Otherwise an
    /// app that resolves nothing would keep it busy for ever.
    mutating func sent(_ outcome: SyncOutcome, now: ContinuousClock.Instant, jitter: Double) {
        guard let error = outcome.error else { return self.sendPause.succeeded() }
        self.wantsSend = self.isAutomatic
        // A caller that cancels its own job cancels nothing that was planned.
        guard error.code != .operationCancelled else { return }
        let reason = outcome.later ?? error
        if outcome.hasProgress, outcome.later == nil, error.code == .partialFailure {
            self.sendPause.succeeded()
        } else {
            self.sendPause.failed(advice: reason.pause, now: now, jitter: jitter)
        }
        self.doubtAccount(reason)
    }

    /// Notes that the app has cancelled everything that was planned.
    mutating func cancelled() {
        self.wantsFetch = false
        self.wantsSend = false
    }

    private mutating func doubtAccount(_ error: CKError) {
        if error.code == .notAuthenticated || error.code == .managedAccountRestricted {
            self.account = .unknown
        }
    }

    // MARK: What to do

    /// Returns the next step at a time.
    ///
    /// The app's first job, if there is one, has precedence. The step depends on whether anything
    /// is pending.
    mutating func next(
        now: ContinuousClock.Instant,
        job: (number: UInt64, isFetch: Bool)?,
        hasPending: Bool
    ) -> Step {
        if let job { return self.next(job.number, isFetch: job.isFetch) }
        guard self.isAutomatic else { return .wait(until: nil) }
        guard self.account == .signedIn else {
            return self.accountPause.isOver(now)
                ? .checkAccount(job: nil) : .wait(until: self.accountPause.until)
        }
        if self.needsSubscription, self.subscriptionPause.isOver(now) { return .subscribe }
        if self.wantsFetch, self.fetchPause.isOver(now) {
            self.wantsFetch = false
            return .fetch
        }
        let mustSend = self.wantsSend && hasPending
        if mustSend, self.sendPause.isOver(now) {
            self.wantsSend = false
            return .send
        }
        let pauses = [
            self.needsSubscription ? self.subscriptionPause.until : nil,
            self.wantsFetch ? self.fetchPause.until : nil, mustSend ? self.sendPause.until : nil,
        ]
        return .wait(until: pauses.compactMap { $0 }.min())
    }

    private mutating func next(_ job: UInt64, isFetch: Bool) -> Step {
        switch self.account {
        case .signedIn:
            // The job does what was planned as well.
            if isFetch { self.wantsFetch = false } else { self.wantsSend = false }
            return .run(job: job)
        case .signedOut where self.checkedJob == job:
            return .refuse(job: job)
        case .signedOut, .unknown:
            self.checkedJob = job
            return .checkAccount(job: job)
        }
    }
}
