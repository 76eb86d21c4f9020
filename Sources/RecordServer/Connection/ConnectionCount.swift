import NIOCore
import Synchronization

/// How many connections there are, and the end of the last one.
final class ConnectionCount: Sendable {
    private struct State {
        var open = 0
        var isDraining = false
        var whenNone: [EventLoopPromise<Void>] = []
    }

    private let connectionsMax: Int
    private let state = Mutex(State())

    init(connectionsMax: Int) {
        self.connectionsMax = connectionsMax
    }

    /// Counts a new connection; `nil`: there is no room, or the server stops.
    func opened() -> Int? {
        self.state.withLock { state in
            guard !state.isDraining, state.open < self.connectionsMax else { return nil }
            state.open += 1
            return state.open
        }
    }

    func closed() -> Int {
        let (open, promises) = self.state.withLock { state in
            state.open -= 1
            guard state.open == 0 else { return (state.open, [EventLoopPromise<Void>]()) }
            let promises = state.whenNone
            state.whenNone = []
            return (0, promises)
        }
        for promise in promises { promise.succeed() }
        return open
    }

    /// Lets nobody in any more; the promise is kept when the last one has left.
    func drain(whenNone promise: EventLoopPromise<Void>) {
        let isEmpty = self.state.withLock { state in
            state.isDraining = true
            guard state.open > 0 else { return true }
            state.whenNone.append(promise)
            return false
        }
        if isEmpty { promise.succeed() }
    }
}
