import NIOCore

/// The one timer of a client.
///
/// It is not rescheduled when a deadline moves away: it fires, finds nothing to do, and is set to
/// the next deadline. So a request has no timer of its own.
extension ClientSession {
    /// Sets the timer to this deadline, unless it fires earlier.
    func wake(by deadline: NIODeadline) {
        if let timerDeadline = self.timerDeadline, timerDeadline <= deadline { return }
        self.timer?.cancel()
        self.timerDeadline = deadline
        self.timer = self.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.timerFired() }
    }

    private func timerFired() {
        self.timerDeadline = nil
        let now = self.eventLoop.now
        for request in self.requests.removeExpired(now: now) {
            self.cancelStream(of: request)
            request.end(.failure(request.timedOut(self.whyUnanswered)))
        }
        self.endExpiredWelcomes(now: now)
        self.requests.returnDue(now: now)
        self.advance(now: now)
        self.scheduleNext(now: now)
        self.flush()
    }

    private func endExpiredWelcomes(now: NIODeadline) {
        let expired = self.welcomes.filter { $0.deadline <= now }
        guard !expired.isEmpty else { return }
        self.welcomes.removeAll { $0.deadline <= now }
        // A server that takes no connections is still reachable.
        let error = self.lastFailure?.refusalForNow ?? self.whyUnanswered
        for waiter in expired { waiter.continuation.resume(returning: .failure(error)) }
    }

    private func scheduleNext(now: NIODeadline) {
        var next = self.requests.nextDeadline
        func consider(_ deadline: NIODeadline?) {
            guard let deadline else { return }
            next = min(next ?? deadline, deadline)
        }
        consider(self.requests.nextReturn)
        consider(self.welcomes.lazy.map(\.deadline).min())
        if case .open(let link) = self.link { consider(link.connection.checkSilence(now: now)) }
        for connection in self.draining.values { consider(connection.checkSilence(now: now)) }
        // One firing serves deadlines that are close together.
        if let next { self.wake(by: max(next, now + .milliseconds(1))) }
    }

    private var whyUnanswered: ClientError {
        guard let failure = self.lastFailure else {
            return .unreachable(description: "\(self.server) did not answer in time")
        }
        return .unreached("Cannot connect to \(self.server)", because: failure)
    }
}
