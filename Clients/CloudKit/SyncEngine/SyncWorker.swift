/// Executes the steps of the machine, one after the other: it asks the server, calls the delegate,
/// and waits.
///
/// Its one task makes all calls of the delegate, and is never cancelled while the engine exists.
actor SyncWorker {
    let state: CKSyncEngine.State
    let inbox: SyncInbox
    let server: SyncServer
    private var machine: SyncMachine
    private let engine: @Sendable () -> CKSyncEngine?
    private let delegate: @Sendable () -> (any CKSyncEngineDelegate)?
    /// The last revision of the state that was reported to the delegate.
    private var toldRevision: UInt64
    /// The times at which a sleep in progress will wake the worker.
    private(set) var alarms: [ContinuousClock.Instant] = []

    init(
        state: CKSyncEngine.State,
        inbox: SyncInbox,
        server: SyncServer,
        machine: SyncMachine,
        engine: @escaping @Sendable () -> CKSyncEngine?,
        delegate: @escaping @Sendable () -> (any CKSyncEngineDelegate)?
    ) {
        self.state = state
        self.inbox = inbox
        self.server = server
        self.machine = machine
        self.engine = engine
        self.delegate = delegate
        self.toldRevision = state.snapshot.revision
    }

    /// Works until the task is cancelled, when the engine is released.
    func run(isListening: Bool) async {
        await withDiscardingTaskGroup { group in
            if isListening { group.addTask { await self.listen() } }
            while !Task.isCancelled {
                do throws(CKError) {
                    try await self.step(&group)
                } catch {
                    // The delegate or the engine is gone: any further work would be lost.
                    self.refuseJobs(error)
                    await self.inbox.wait()
                }
            }
            group.cancelAll()
        }
    }

    /// - Throws: `CKError` if the delegate or the engine is gone.
    private func step(_ group: inout DiscardingTaskGroup) async throws(CKError) {
        guard self.engine() != nil, self.delegate() != nil else { throw .delegateIsGone }
        self.takeEvents()
        try await self.tellState()
        let job = self.inbox.firstJob
        let step = self.machine.next(
            now: .now,
            job: job.map { ($0.number, isFetch: $0.kind.isFetch) },
            hasPending: self.state.snapshot.hasPending
        )
        switch step {
        case .checkAccount(let job): try await self.checkAccount(job)
        case .subscribe: await self.subscribe()
        case .fetch:
            await self.fetch(reason: .scheduled, CKSyncEngine.FetchChangesOptions(), self.inbox.begin())
        case .send: await self.send(reason: .scheduled, CKSyncEngine.SendChangesOptions(), self.inbox.begin())
        case .run(let number):
            guard let (job, calls) = self.inbox.begin(job: number) else { return }
            switch job.kind {
            case .fetch(let options): job.end(await self.fetch(reason: .manual, options, calls))
            case .send(let options): job.end(await self.send(reason: .manual, options, calls))
            }
        case .refuse(let number): self.inbox.refuse(job: number, .nobodySignedIn)
        case .wait(let until):
            if let until { self.setAlarm(at: until, &group) }
            await self.inbox.wait()
        }
    }

    private func takeEvents() {
        let news = self.inbox.takeEvents()
        if news.cancelled { self.machine.cancelled() }
        if news.accountMayHaveChanged { self.machine.accountMayHaveChanged() }
        if news.notified { self.machine.notified() }
        if news.stateChanged { self.machine.stateChanged() }
    }

    private func refuseJobs(_ error: CKError) {
        while let job = self.inbox.firstJob { self.inbox.refuse(job: job.number, error) }
    }

    /// Wakes the worker at a time, or before.
    ///
    /// The runtime keeps a cancelled sleep until its time. So an event cancels none: the sleep
    /// continues, and serves every later pause that is not over before it.
    private func setAlarm(at time: ContinuousClock.Instant, _ group: inout DiscardingTaskGroup) {
        guard self.alarms.allSatisfy({ $0 > time }) else { return }
        self.alarms.append(time)
        group.addTask {
            // It is cancelled with the engine, which has nothing left to do.
            guard (try? await Task.sleep(until: time, clock: .continuous)) != nil else { return }
            await self.ring(of: time)
        }
    }

    private func ring(of time: ContinuousClock.Instant) {
        self.alarms.removeAll { $0 == time }
        self.inbox.post { _ in }
    }

    private var jitter: Double { Double.random(in: 0...1) }

    @discardableResult
    private func fetch(
        reason: CKSyncEngine.SyncReason,
        _ options: CKSyncEngine.FetchChangesOptions,
        _ calls: SyncCalls
    ) async -> CKError? {
        let outcome = await self.fetch(.init(reason: reason, options: options), calls)
        self.inbox.ended()
        self.machine.fetched(outcome.error ?? outcome.later, now: .now, jitter: self.jitter)
        return outcome.error
    }

    @discardableResult
    private func send(
        reason: CKSyncEngine.SyncReason,
        _ options: CKSyncEngine.SendChangesOptions,
        _ calls: SyncCalls
    ) async -> CKError? {
        let outcome = await self.send(.init(reason: reason, options: options), calls)
        self.inbox.ended()
        self.machine.sent(outcome, now: .now, jitter: self.jitter)
        return outcome.error
    }

    private func subscribe() async {
        let calls = self.inbox.begin()
        var failure: CKError?
        do throws(CKError) {
            let server = self.server
            try await calls.run { try await server.subscribe() }
        } catch {
            failure = error
        }
        self.inbox.ended()
        self.machine.subscribed(failure, now: .now, jitter: self.jitter)
    }

    // MARK: Account

    /// - Throws: `CKError` if the delegate or the engine is gone.
    private func checkAccount(_ job: UInt64?) async throws(CKError) {
        let calls = self.inbox.begin()
        let user: String?
        let home: String
        do throws(CKError) {
            let server = self.server
            user = try await calls.run { () async throws -> String? in try await server.user() }
            home = try server.home()
            self.inbox.ended()
        } catch {
            self.inbox.ended()
            self.machine.accountFailed(error, now: .now, jitter: self.jitter)
            if let job { self.inbox.refuse(job: job, error) }
            return
        }
        let snapshot = self.state.snapshot
        let isForeign = snapshot.isForeign(to: home)
        if user == nil {
            self.machine.signedOut(now: .now, jitter: self.jitter)
        } else {
            self.machine.signedIn()
        }
        let change = Self.change(from: snapshot.user, to: user, isForeign: isForeign)
        self.state.update { state in
            if change != nil { state.change(to: user, in: home) }
            state.adopt(home)
        }
        guard let change else { return }
        self.machine.userChanged()
        try await self.deliver(.accountChange(.init(changeType: change)))
        try await self.tellState()
    }

    /// A state of another database is one of another account, whoever its user is.
    private static func change(
        from before: String?,
        to user: String?,
        isForeign: Bool
    ) -> CKSyncEngine.Event.AccountChange.ChangeType? {
        guard before != user || isForeign else { return nil }
        switch (before.map { CKRecord.ID(recordName: $0) }, user.map { CKRecord.ID(recordName: $0) }) {
        case (nil, nil): return nil
        case (nil, let user?): return .signIn(currentUser: user)
        case (let before?, nil): return .signOut(previousUser: before)
        case (let before?, let user?): return .switchAccounts(previousUser: before, currentUser: user)
        }
    }

    // MARK: The delegate

    /// Reports an event to the delegate, and waits until it is handled.
    ///
    /// - Throws: `CKError` if the delegate or the engine is gone.
    func deliver(_ event: CKSyncEngine.Event) async throws(CKError) {
        try await self.call { await $0.handleEvent(event, syncEngine: $1) }
    }

    /// Reports the state to the delegate, if it differs from the last one that was reported.
    func tellState() async throws(CKError) {
        let snapshot = self.state.snapshot
        guard snapshot.revision != self.toldRevision else { return }
        self.toldRevision = snapshot.revision
        try await self.deliver(.stateUpdate(.init(stateSerialization: .init(snapshot))))
    }

    func call<Value>(
        _ body: (any CKSyncEngineDelegate, CKSyncEngine) async -> Value
    ) async throws(CKError) -> Value {
        guard !Task.isCancelled, let engine = self.engine(), let delegate = self.delegate() else {
            throw .delegateIsGone
        }
        return await DelegateCall.run(of: engine) { await body(delegate, engine) }
    }
}

/// The result of a fetch or a send.
struct SyncOutcome: Sendable {
    /// The error that ended it.
    var error: CKError?
    /// The error with the longest pause before a retry.
    var later: CKError?
    /// Whether any item succeeded.
    var hasProgress = false
}
