import Foundation
import Synchronization

/// The end of the writer's thread, and who waits for it.
final class WriterEnd: Sendable {
    private struct State {
        var hasHappened = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func happened() {
        let waiting = self.state.withLock { state in
            state.hasHappened = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = self.state.withLock { state in
                if !state.hasHappened { state.waiting.append(continuation) }
                return state.hasHappened
            }
            if isOver { continuation.resume() }
        }
    }
}

/// The result of work that one thread waits for and another brings, once.
///
/// SAFETY: the result is read and written only while the condition is locked.
final class Answer: @unchecked Sendable {
    private let condition = NSCondition()
    /// `nil` until there is one.
    private var result: Result<Void, any Error>?

    func fill(_ error: (any Error)?) {
        self.condition.withLock {
            self.result = error.map { .failure($0) } ?? .success(())
            self.condition.signal()
        }
    }

    /// Returns the error, or `nil` if there was none.
    func wait() -> (any Error)? {
        self.condition.withLock {
            while true {
                switch self.result {
                case .success?: return nil
                case .failure(let error)?: return error
                case nil: self.condition.wait()
                }
            }
        }
    }
}
