import Synchronization

/// Runs jobs on threads for files, one at a time and in order.
///
/// The callers bound the number of waiting jobs: an upload has one for received bytes and one for
/// its end, a download at most two batches.
package final class FileLane: Sendable {
    private struct State {
        var waiting: [FileThreads.Job] = []
        var isBusy = false
    }

    /// Number of jobs after which other lanes get the thread.
    ///
    /// Waking a thread for each job would cost more than the other lanes wait.
    private static let turnJobs = 4

    private let threads: FileThreads
    private let state = Mutex(State())

    package init(on threads: FileThreads) {
        self.threads = threads
    }

    package func submit(_ job: @escaping FileThreads.Job) {
        let isFirst = self.state.withLock { state in
            state.waiting.append(job)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFirst { self.threads.run(self.work) }
    }

    /// Runs queued jobs, and those that are submitted meanwhile.
    private func work() {
        for _ in 0..<Self.turnJobs {
            guard let job = self.next() else { return }
            job()
        }
        self.threads.run(self.work)
    }

    private func next() -> FileThreads.Job? {
        self.state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
