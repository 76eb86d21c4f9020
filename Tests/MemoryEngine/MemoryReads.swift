import Foundation
import RecordStore
import Synchronization

/// Reads that wait for a thread, and the threads that execute them.
///
/// SAFETY: the variables are read and written only while the condition is locked.
final class MemoryReads: @unchecked Sendable {
    private let condition = NSCondition()
    private var waiting: WaitingReads
    private var isClosed = false
    private let storage: MemoryStorage
    private let configuration: MemoryEngineConfiguration

    init(_ storage: MemoryStorage, _ configuration: MemoryEngineConfiguration) {
        self.storage = storage
        self.configuration = configuration
        self.waiting = WaitingReads(
            threads: configuration.readThreads,
            waitNanoseconds: configuration.readerWaitNanoseconds
        )
    }

    /// Starts the threads, which live until the reads are closed.
    func start() {
        for _ in 0..<self.configuration.readThreads {
            Thread(block: {
                while let next = self.take() {
                    let start = self.configuration.monotonicNanoseconds()
                    let isLate = next.job.requester.deadlineMilliseconds < self.configuration.clock()
                    if isLate { next.job.fail(.deadlinePassed) } else { self.finish(next.job) }
                    let end = self.configuration.monotonicNanoseconds()
                    self.condition.withLock {
                        self.waiting.ended([next], nanoseconds: isLate ? nil : end - start, now: end)
                    }
                }
            }).start()
        }
    }

    private func take() -> WaitingReads.Waiting? {
        self.condition.withLock {
            while true {
                if let next = self.waiting.take() { return next }
                if self.isClosed { return nil }
                self.condition.wait()
            }
        }
    }

    func close() {
        self.condition.withLock {
            self.isClosed = true
            self.condition.broadcast()
        }
    }

    var mayReject: Bool { self.condition.withLock { self.waiting.mayReject } }
    var overload: OverloadRule.Counted { self.condition.withLock { self.waiting.overload } }

    /// Executes a job on this thread if it may be short, and else on one of the others.
    func run(_ job: ReadJob) {
        guard !self.condition.withLock({ self.isClosed }) else { return job.fail(.shuttingDown) }
        let isDone =
            switch job.effort {
            case .short: self.execute(job, isAttempt: false)
            case .long, .search(isAttempted: false): false
            case .search(isAttempted: true): self.execute(job, isAttempt: true)
            }
        guard !isDone else { return }
        let decision = self.condition.withLock {
            let decision = self.waiting.add(job, now: self.configuration.monotonicNanoseconds())
            self.condition.signal()
            return decision
        }
        if case .refuse(let milliseconds) = decision {
            job.fail(.overloaded(retryAfterMilliseconds: milliseconds))
        }
    }

    private func finish(_ job: ReadJob) {
        if !self.execute(job, isAttempt: false) { job.fail(.storage(.unexpected(code: 0))) }
    }

    /// Returns whether the job has come to its end; an attempt may have given up.
    private func execute(_ job: ReadJob, isAttempt: Bool) -> Bool {
        do throws(StorageFailure) {
            guard let reply = try job.body(ContentsReader(self.storage.contents), isAttempt) else {
                return false
            }
            reply()
        } catch {
            job.fail(.storage(error))
        }
        return true
    }
}
