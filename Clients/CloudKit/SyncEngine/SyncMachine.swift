/// Decides what an engine does next: look who is signed in, subscribe, fetch, send, or wait.
///
/// Pure: told what happened and what time it is, it answers with one step at a time; the next is asked for when that is done.
///
/// ```text
/// account:   unknown --signed in--> signedIn --notAuthenticated, news--> unknown
///               ^ \------signed out--> signedOut --news, pause over--/
/// automatic: subscribe (once for each sign-in) -> fetch (start, notification) -> send (something is pending) -> wait
/// ```
///
/// What the app asks for comes first, and no pause keeps it back.
struct SyncMachine: Sendable {
    enum Step: Equatable, Sendable {
        /// Find out who is signed in; with a job, on its behalf: it fails when that can't be found out.
        case checkAccount(job: UInt64?)
        /// See to it that the server sends notifications.
        case subscribe
        case fetch
        case send
        /// What the app asked for.
        case run(job: UInt64)
        /// Nobody is signed in: what the app asked for is not possible.
        case refuse(job: UInt64)
        /// Until something happens, or then.
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
    /// A job for which the account was looked at already.
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

    /// The app changed what is to be sent.
    mutating func stateChanged() { self.wantsSend = self.isAutomatic }

    /// The server says that something changed.
    mutating func notified() { self.wantsFetch = self.isAutomatic }

    /// Somebody heard something else about the token than before.
    mutating func accountMayHaveChanged() {
        self.account = .unknown
        self.accountPause.succeeded()
    }

    mutating func signedIn() {
        if self.account != .signedIn, self.isAutomatic {
            self.needsSubscription = true
            self.subscriptionPause.succeeded()
        }
        self.account = .signedIn
        self.accountPause.succeeded()
    }

    /// Another user than before, or nobody: there is nothing left of what was wanted but to begin.
    mutating func userChanged() {
        self.wantsFetch = self.isAutomatic
        self.wantsSend = self.isAutomatic
        self.fetchPause.succeeded()
        self.sendPause.succeeded()
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

    /// The server sends notifications from now on, or why it does not.
    mutating func subscribed(_ error: CKError?, now: ContinuousClock.Instant, jitter: Double) {
        guard let error, error.isTransient || error.code == .operationCancelled else {
            // What is refused for good is asked for again by the next engine.
            self.needsSubscription = false
            self.subscriptionPause.succeeded()
            return
        }
        self.subscriptionPause.failed(advice: error.pause, now: now, jitter: jitter)
        self.doubtAccount(error)
    }

    /// Everything was fetched that there was, or why there is something to be fetched again.
    mutating func fetched(_ error: CKError?, now: ContinuousClock.Instant, jitter: Double) {
        guard let error else { return self.fetchPause.succeeded() }
        self.wantsFetch = self.isAutomatic
        // Whoever cancelled what he asked for himself has cancelled nothing that was planned.
        guard error.code != .operationCancelled else { return }
        self.fetchPause.failed(advice: error.pause, now: now, jitter: jitter)
        self.doubtAccount(error)
    }

    /// Everything was sent that there was, or it ended before, and there may be more.
    ///
    /// It goes on at once if something took effect and nothing asks for time: an app that resolves nothing is not followed without end.
    mutating func sent(_ outcome: SyncOutcome, now: ContinuousClock.Instant, jitter: Double) {
        guard let error = outcome.error else { return self.sendPause.succeeded() }
        self.wantsSend = self.isAutomatic
        // Whoever cancelled what he asked for himself has cancelled nothing that was planned.
        guard error.code != .operationCancelled else { return }
        let reason = outcome.later ?? error
        if outcome.hasProgress, outcome.later == nil, error.code == .partialFailure {
            self.sendPause.succeeded()
        } else {
            self.sendPause.failed(advice: reason.pause, now: now, jitter: jitter)
        }
        self.doubtAccount(reason)
    }

    /// The app wants to hear nothing more of what was planned.
    mutating func cancelled() {
        self.wantsFetch = false
        self.wantsSend = false
    }

    private mutating func doubtAccount(_ error: CKError) {
        if error.code == .notAuthenticated { self.account = .unknown }
    }

    // MARK: What to do

    /// The next step, at a time: with what the app asked for first, if anything, and whether there is anything to send.
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
            // It does what was planned as well.
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
