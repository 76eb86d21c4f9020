import RecordClient
import Synchronization
import WireProtocol

/// Coming back at the time that the server named.
extension Worker {
    /// Puts a request aside that was refused with a reservation, with the keys that it writes.
    ///
    /// - Returns: Whether it was, and will be sent again.
    func putAside(_ call: Call, _ result: Result<End, ClientError>, at now: ContinuousClock.Instant) -> Bool {
        guard let retries = self.settings.retries, call.operation != nil,
            case .failure(.refused(let failure)) = result
        else { return false }
        if call.isRetry { self.recorder.retried(call.measured, due: call.due, wasAdmitted: false) }
        guard let milliseconds = failure.reservedMilliseconds, now < self.recorder.period.upperBound else {
            return false
        }
        self.recorder.reserved(call.measured, at: now)
        retries.add(
            .init(worker: self, call: call, due: now + .milliseconds(Int64(milliseconds)), failure: failure)
        )
        self.failed(call, FailureReason.text(failure))
        return true
    }

    /// The time of a request that was put aside has come: it leaves, whatever else is under way.
    func comeBack(_ retry: Retries.Retry) {
        self.state.withLock { $0.underWay += 1 }
        self.recorder.left(due: retry.due, at: .now, hasWaited: true)
        self.send(Call(again: retry.call, due: retry.due))
    }

    /// Nothing more is sent: what became of a request that was put aside is known.
    func giveUp(_ retry: Retries.Retry) {
        guard let keys = retry.call.writtenKeys else { return }
        _ = self.settle(keys, [], .failure(.refused(retry.failure)))
    }
}
