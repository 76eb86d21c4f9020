import NIOCore
import Synchronization

/// The event loops that connections are on.
final class ServedLoops: Sendable {
    private let accounts: Accounts
    /// Empty while the server does not run.
    private let loops = Mutex<[ServedLoop]>([])
    private let isMakingRoom = Atomic<Bool>(false)

    init(accounts: Accounts) {
        self.accounts = accounts
    }

    /// Connections are on these loops from now on; on none when the server has stopped.
    func serve(on loops: [ServedLoop]) {
        self.loops.withLock { $0 = loops }
    }

    /// Does something on each event loop, soon.
    func onEach(_ body: @escaping @Sendable (LoopContext) -> Void) {
        for loop in self.loops.withLock({ $0 }) { loop.execute(body) }
    }

    /// Returns when each event loop has executed something.
    func response() async {
        for loop in self.loops.withLock({ $0 }) {
            // A loop that ends meanwhile hangs no more than one that executes.
            try? await loop.eventLoop.submit {}.get()
        }
    }

    /// Ends connections of the holder with most responses, if little room is left for the others.
    ///
    /// They come to an end on their event loops, until there is room again: those first that hold
    /// most.
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

/// An event loop, and what its connections share.
struct ServedLoop: Sendable {
    let eventLoop: any EventLoop
    let context: NIOLoopBound<LoopContext>

    func execute(_ body: @escaping @Sendable (LoopContext) -> Void) {
        self.eventLoop.execute { body(self.context.value) }
    }
}

/// How many event loops have something left to do.
private final class LoopsLeft: Sendable {
    private let count: Atomic<Int>

    init(_ count: Int) {
        self.count = Atomic(count)
    }

    /// One loop has done it.
    ///
    /// - Returns: Whether it was the last.
    func isLast() -> Bool { self.count.subtract(1, ordering: .relaxed).newValue == 0 }
}
