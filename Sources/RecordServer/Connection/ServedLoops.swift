import NIOCore
import Synchronization

/// The event loops that serve connections.
final class ServedLoops: Sendable {
    private let accounts: Accounts
    /// Empty while the server does not run.
    private let loops = Mutex<[ServedLoop]>([])
    private let isMakingRoom = Atomic<Bool>(false)

    init(accounts: Accounts) {
        self.accounts = accounts
    }

    /// Sets the loops that serve connections; empty when the server has stopped.
    func serve(on loops: [ServedLoop]) {
        self.loops.withLock { $0 = loops }
    }

    /// Executes a body on each event loop, soon.
    func onEach(_ body: @escaping @Sendable (LoopContext) -> Void) {
        for loop in self.loops.withLock({ $0 }) { loop.execute(body) }
    }

    /// Returns when each event loop has executed an empty task.
    func response() async {
        for loop in self.loops.withLock({ $0 }) {
            // A loop that is shutting down counts as responsive.
            try? await loop.eventLoop.submit {}.get()
        }
    }

    /// Ends connections of the holder with most responses, if little room is left for other
    /// holders.
    ///
    /// They end on their event loops, the largest first, until there is room again.
    func makeRoomForResponses() {
        guard self.accounts.isShortOfResponses,
            self.isMakingRoom.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
        else { return }
        let largest = self.accounts.largestByResponses
        let loops = self.loops.withLock { $0 }
        let left = LoopsLeft(loops.count)
        for loop in loops {
            loop.execute { context in
                if let largest { context.endLargest(of: largest, while: self.accounts) }
                if left.isLast() { self.isMakingRoom.store(false, ordering: .relaxed) }
            }
        }
        if loops.isEmpty { self.isMakingRoom.store(false, ordering: .relaxed) }
    }
}

/// An event loop, and the state that its connections share.
struct ServedLoop: Sendable {
    let eventLoop: any EventLoop
    let context: NIOLoopBound<LoopContext>

    func execute(_ body: @escaping @Sendable (LoopContext) -> Void) {
        self.eventLoop.execute { body(self.context.value) }
    }
}

/// Counts the event loops that have not finished.
private final class LoopsLeft: Sendable {
    private let count: Atomic<Int>

    init(_ count: Int) {
        self.count = Atomic(count)
    }

    /// One loop has finished.
    ///
    /// - Returns: Whether it was the last.
    func isLast() -> Bool { self.count.subtract(1, ordering: .relaxed).newValue == 0 }
}
