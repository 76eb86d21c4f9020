import Synchronization

/// The faults of a test server.
///
/// ```swift
/// server.faults.add(.save(.third), .zoneBusy(retryAfter: 2))
/// server.faults.add(.save(.next), .dropConnectionAfterCommit)
/// server.faults.add(.fetch(.every, by: "bob"), .rateLimited(retryAfter: 1))
/// ```
public final class FaultPlan: Sendable {
    private struct Entry {
        var occasion: Occasion
        var effect: Effect
        /// Requests that this entry has counted.
        var seen = 0
    }

    private struct State {
        var entries: [Entry] = []
        var happened = 0
        /// Requests that were read, by kind and user.
        var requests: [FaultOccasion: Int] = [:]
    }

    private let state = Mutex(State())

    init() {}

    /// Adds a fault.
    ///
    /// If several are due for one request, the one added first happens, and each of them counts the
    /// request.
    ///
    /// - Parameters:
    ///   - occasion: The requests; counting starts now.
    ///   - effect: The effect on them.
    public func add(_ occasion: Occasion, _ effect: Effect) {
        self.state.withLock { $0.entries.append(Entry(occasion: occasion, effect: effect)) }
    }

    /// Removes every fault that has not happened.
    public func removeAll() {
        self.state.withLock { $0.entries = [] }
    }

    /// How many faults have happened since the start of the server.
    public var happened: Int { self.state.withLock { $0.happened } }

    /// Returns how many requests the server has read since its start, with those that a fault hit.
    ///
    /// - Parameter occasion: The kind and the user; which of the requests has no effect.
    /// - Returns: Their number.
    public func requests(_ occasion: Occasion) -> Int {
        self.state.withLock { state in
            state.requests.reduce(0) { occasion.matches($1.key) ? $0 + $1.value : $0 }
        }
    }

    func fault(for occasion: FaultOccasion) -> Fault? {
        self.state.withLock { state in
            var kind = occasion
            kind.ordinal = 0
            state.requests[kind, default: 0] += 1
            var due: Fault?
            for index in state.entries.indices where state.entries[index].occasion.matches(occasion) {
                state.entries[index].seen += 1
                let entry = state.entries[index]
                if due == nil, entry.occasion.which.isDue(entry.seen) { due = entry.effect.fault }
            }
            if due != nil { state.happened += 1 }
            return due
        }
    }
}
