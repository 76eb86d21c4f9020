import Testing

@testable import CloudKit

/// What the machine says, step by step.
struct SyncMachineTests {
    private static let start = ContinuousClock.Instant.now

    private struct Transcript {
        var machine: SyncMachine
        var now = SyncMachineTests.start
        var job: (number: UInt64, isFetch: Bool)?
        var hasPending = false

        init(isAutomatic: Bool = true) { self.machine = SyncMachine(isAutomatic: isAutomatic) }

        mutating func next() -> SyncMachine.Step {
            self.machine.next(now: self.now, job: self.job, hasPending: self.hasPending)
        }

        /// Goes on to where nothing is to be done.
        mutating func settle() {
            self.machine.signedIn()
            self.machine.subscribed(nil, now: self.now, jitter: 0)
            _ = self.next()
            self.machine.fetched(nil, now: self.now, jitter: 0)
        }

        func later(_ seconds: Double) -> SyncMachine.Step { .wait(until: self.now + .seconds(seconds)) }
    }

    private func error(_ code: CKError.Code, retryAfter seconds: Double? = nil) -> CKError {
        CKError(code, userInfo: seconds.map { [CKErrorRetryAfterKey: NSNumber(value: $0)] } ?? [:])
    }

    @Test func `it looks who is signed in, subscribes, fetches, sends and waits`() {
        var script = Transcript()
        script.hasPending = true
        #expect(script.next() == .checkAccount(job: nil))
        script.machine.signedIn()
        script.machine.userChanged()
        #expect(script.next() == .subscribe)
        script.machine.subscribed(nil, now: script.now, jitter: 0)
        #expect(script.next() == .fetch)
        script.machine.fetched(nil, now: script.now, jitter: 0)
        #expect(script.next() == .send)
        script.machine.sent(.init(), now: script.now, jitter: 0)
        #expect(script.next() == .wait(until: nil))
        script.machine.notified()
        #expect(script.next() == .fetch)
        script.machine.stateChanged()
        #expect(script.next() == .send)
        #expect(script.next() == .wait(until: nil))
    }

    @Test func `a state that has changed and has nothing pending is nothing to send`() {
        var script = Transcript()
        script.settle()
        script.machine.stateChanged()
        #expect(script.next() == .wait(until: nil))
        script.hasPending = true
        #expect(script.next() == .send)
    }

    @Test func `what the server refuses for a time is sent again after it, and fetched meanwhile`() {
        var script = Transcript()
        script.settle()
        script.hasPending = true
        script.machine.stateChanged()
        #expect(script.next() == .send)
        script.machine.sent(
            .init(error: self.error(.requestRateLimited, retryAfter: 30)),
            now: script.now,
            jitter: 0
        )
        #expect(script.next() == script.later(30))
        script.machine.stateChanged()
        #expect(script.next() == script.later(30))
        script.machine.notified()
        #expect(script.next() == .fetch)
        script.machine.fetched(nil, now: script.now, jitter: 0)
        script.now += .seconds(29)
        #expect(script.next() == script.later(1))
        script.now += .seconds(1)
        #expect(script.next() == .send)
    }

    @Test func `a send that failed goes on at once if anything took effect, else at times that grow`() {
        var script = Transcript()
        script.settle()
        script.hasPending = true
        script.machine.stateChanged()
        #expect(script.next() == .send)
        let partial = self.error(.partialFailure)
        script.machine.sent(.init(error: partial, hasProgress: true), now: script.now, jitter: 1)
        #expect(script.next() == .send)
        script.machine.sent(.init(error: partial), now: script.now, jitter: 1)
        #expect(script.next() == script.later(1))
        script.machine.stateChanged()
        #expect(script.next() == script.later(1))
        script.now += .seconds(1)
        #expect(script.next() == .send)
        script.machine.sent(.init(error: partial), now: script.now, jitter: 1)
        #expect(script.next() == script.later(2))
        script.now += .seconds(2)
        #expect(script.next() == .send)
        let busy = self.error(.zoneBusy, retryAfter: 30)
        let outcome = SyncOutcome(error: partial, later: busy, hasProgress: true)
        script.machine.sent(outcome, now: script.now, jitter: 0)
        #expect(script.next() == script.later(30))
    }

    @Test func `a network that fails is tried again at times that grow`() {
        var script = Transcript()
        script.settle()
        var pauses: [Duration] = []
        script.machine.notified()
        for _ in 0..<12 {
            #expect(script.next() == .fetch)
            script.machine.fetched(self.error(.networkFailure), now: script.now, jitter: 1)
            guard case .wait(let until?) = script.next() else { return #expect(Bool(false), "no pause") }
            pauses.append(until - script.now)
            script.now = until
        }
        #expect(pauses.prefix(4) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        #expect(pauses.last == .seconds(300))
        #expect(script.next() == .fetch)
        script.machine.fetched(nil, now: script.now, jitter: 1)
        script.machine.notified()
        #expect(script.next() == .fetch)
        script.machine.fetched(self.error(.networkFailure), now: script.now, jitter: 1)
        #expect(script.next() == script.later(1))
    }

    @Test func `work that the app asks for comes first, and no pause delays it`() {
        var script = Transcript()
        script.settle()
        script.hasPending = true
        script.machine.stateChanged()
        _ = script.next()
        script.machine.sent(.init(error: self.error(.zoneBusy, retryAfter: 60)), now: script.now, jitter: 0)
        script.job = (7, isFetch: false)
        #expect(script.next() == .run(job: 7))
        script.machine.sent(.init(), now: script.now, jitter: 0)
        script.job = nil
        #expect(script.next() == .wait(until: nil))
    }

    @Test func `an engine that does nothing by itself does what it is asked for`() {
        var script = Transcript(isAutomatic: false)
        script.hasPending = true
        #expect(script.next() == .wait(until: nil))
        script.machine.stateChanged()
        script.machine.notified()
        #expect(script.next() == .wait(until: nil))
        script.job = (1, isFetch: true)
        #expect(script.next() == .checkAccount(job: 1))
        script.machine.signedIn()
        script.machine.userChanged()
        #expect(script.next() == .run(job: 1))
        script.machine.fetched(self.error(.networkFailure), now: script.now, jitter: 0)
        script.job = nil
        #expect(script.next() == .wait(until: nil))
    }

    @Test func `without a signed-in user the engine does nothing, refuses requests, and looks again`() {
        var script = Transcript()
        #expect(script.next() == .checkAccount(job: nil))
        script.machine.signedOut(now: script.now, jitter: 1)
        #expect(script.next() == script.later(1))
        script.job = (3, isFetch: true)
        #expect(script.next() == .checkAccount(job: 3))
        script.machine.signedOut(now: script.now, jitter: 1)
        #expect(script.next() == .refuse(job: 3))
        script.job = nil
        #expect(script.next() == script.later(2))
        script.machine.accountMayHaveChanged()
        #expect(script.next() == .checkAccount(job: nil))
    }

    @Test func `a token that is refused is looked into before anything else`() {
        var script = Transcript()
        script.settle()
        script.hasPending = true
        script.machine.stateChanged()
        _ = script.next()
        script.machine.sent(.init(error: self.error(.notAuthenticated)), now: script.now, jitter: 0)
        #expect(script.next() == .checkAccount(job: nil))
        script.machine.signedIn()
        #expect(script.next() == .subscribe)
    }

    @Test func `a subscription that is refused for a token that is accepted is asked for at times that grow`()
    {
        var script = Transcript()
        script.machine.signedIn()
        for pause in [1.0, 2, 4] {
            #expect(script.next() == .subscribe)
            script.machine.subscribed(self.error(.notAuthenticated), now: script.now, jitter: 1)
            #expect(script.next() == .checkAccount(job: nil))
            script.machine.signedIn()
            if pause == 1 {
                #expect(script.next() == .fetch)
                script.machine.fetched(nil, now: script.now, jitter: 0)
            }
            #expect(script.next() == script.later(pause))
            script.now += .seconds(pause)
        }
    }

    @Test func `a server that says at once again and again is asked at times that grow`() {
        var script = Transcript()
        script.settle()
        script.machine.notified()
        for pause in [0.0, 2, 4] {
            #expect(script.next() == .fetch)
            let error = self.error(.serviceUnavailable, retryAfter: 0)
            script.machine.fetched(error, now: script.now, jitter: 1)
            if pause > 0 { #expect(script.next() == script.later(pause)) }
            script.now += .seconds(pause)
        }
    }

    @Test func `what is cancelled is not tried again, but a new change is`() {
        var script = Transcript()
        script.settle()
        script.hasPending = true
        script.machine.stateChanged()
        _ = script.next()
        script.machine.sent(.init(error: self.error(.operationCancelled)), now: script.now, jitter: 0)
        script.machine.cancelled()
        #expect(script.next() == .wait(until: nil))
        script.machine.stateChanged()
        #expect(script.next() == .send)
    }

    @Test func `an app that cancels what it asked for cancels nothing that was planned`() {
        var script = Transcript()
        script.settle()
        script.machine.notified()
        script.job = (4, isFetch: true)
        #expect(script.next() == .run(job: 4))
        script.machine.fetched(self.error(.operationCancelled), now: script.now, jitter: 0)
        script.job = nil
        #expect(script.next() == .fetch)
    }

    @Test func `a subscription that is refused for good is not asked for again, one that fails for now is`() {
        var script = Transcript()
        script.machine.signedIn()
        #expect(script.next() == .subscribe)
        script.machine.subscribed(self.error(.serviceUnavailable, retryAfter: 5), now: script.now, jitter: 0)
        #expect(script.next() == .fetch)
        script.machine.fetched(nil, now: script.now, jitter: 0)
        #expect(script.next() == script.later(5))
        script.now += .seconds(5)
        #expect(script.next() == .subscribe)
        script.machine.subscribed(self.error(.incompatibleVersion), now: script.now, jitter: 0)
        #expect(script.next() == .wait(until: nil))
    }
}
