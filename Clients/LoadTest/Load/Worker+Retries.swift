import RecordClient
import Synchronization
import WireProtocol

/// Retries at the time that the server named.
extension Worker {
    /// Puts a request aside that was rejected with a reservation, and keeps the keys that it
    /// writes.
    ///
    /// In a closed loop it keeps its slot: a user with one request at a time waits for that one.
    ///
    /// - Returns: Whether it was put aside, and will be sent again.
    func putAside(_ call: Call, _ result: Result<End, ClientError>, at now: ContinuousClock.Instant) -> Bool {
        guard let retries = self.settings.retries, call.operation != nil,
            case .failure(.refused(let failure)) = result
        else { return false }
        if call.isRetry { self.recorder.retried(call.measured, due: call.due, wasAdmitted: false) }
        let told = self.settings.isClosedLoop ? failure.waitMilliseconds : failure.reservedMilliseconds
        guard let milliseconds = told, now < self.recorder.period.upperBound else { return false }
        let wait = Duration.milliseconds(Int64(milliseconds))
        self.recorder.reserved(call.measured, wait: wait, at: now)
        retries.add(.init(worker: self, call: call, due: now + wait, failure: failure))
        self.recorder.failed(call.measured, FailureReason.text(failure), at: now)
        self.recorder.finished()
        if !self.settings.isClosedLoop { self.placeFreed() }
        return true
    }

    /// Sends a request that was put aside, whatever else is in flight.
    func comeBack(_ retry: Retries.Retry) {
        let isClosedLoop = self.settings.isClosedLoop
        if !isClosedLoop { self.state.withLock { $0.underWay += 1 } }
        self.recorder.left(due: retry.due, at: .now, hasWaited: true)
        // In a closed loop the wait counts from the first attempt.
        self.send(Call(again: retry.call, due: isClosedLoop ? retry.call.due : retry.due))
    }

    /// Ends a request that was put aside and is not sent any more.
    ///
    /// Its result is known.
    func giveUp(_ retry: Retries.Retry) {
        if let keys = retry.call.writtenKeys {
            _ = self.settle(keys, [], .failure(.refused(retry.failure)))
        }
        if self.settings.isClosedLoop { self.placeFreed() }
    }
}
