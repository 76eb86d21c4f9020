import Synchronization

/// Executes jobs on threads of the store, one at a time and in order.
///
/// The callers bound the number of jobs: an upload has one for received bytes, and one for its end.
package final class AssetLane: Sendable {
    package typealias Job = @Sendable () -> Void

    private struct State {
        var waiting: [Job] = []
        var isBusy = false
    }

    private let threads: AssetThreads
    private let state = Mutex(State())

    init(threads: AssetThreads) {
        self.threads = threads
    }

    package func submit(_ job: @escaping Job) {
        let isFirst = self.state.withLock { state in
            state.waiting.append(job)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFirst { self.executeNext() }
    }

    private func executeNext() {
        // After shutdown, the calling thread runs the jobs. They are short, and the last ones close
        // files.
        self.threads.run { [self] in
            let job = self.state.withLock { $0.waiting.removeFirst() }
            job()
            let isLast = self.state.withLock { state in
                state.isBusy = !state.waiting.isEmpty
                return !state.isBusy
            }
            // Other lanes get a thread between two jobs.
            if !isLast { self.executeNext() }
        }
    }
}
