import Synchronization

/// Does one job after the other, in order, on threads for files.
///
/// Bounded by who submits.
final class FileLane: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var waiting: [Job] = []
        var isBusy = false
    }

    /// Then others have their turns.
    private static let turnJobs = 4

    private let threads: FileThreads
    private let state = Mutex(State())

    init(on threads: FileThreads) {
        self.threads = threads
    }

    func run(_ job: @escaping Job) {
        let isFirst = self.state.withLock { state in
            state.waiting.append(job)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFirst { self.threads.run(self.work) }
    }

    /// What waits, and what comes meanwhile: to wake a thread for each would cost more than others wait.
    private func work() {
        for _ in 0..<Self.turnJobs {
            guard let job = self.next() else { return }
            job()
        }
        self.threads.run(self.work)
    }

    private func next() -> Job? {
        self.state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
