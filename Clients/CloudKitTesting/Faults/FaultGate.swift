import Synchronization

/// Holds requests until it is opened, and none from then on.
package final class FaultGate: Hashable, Sendable {
    private enum State {
        case closed(waiting: [@Sendable () -> Void])
        case open
    }

    private let state = Mutex(State.closed(waiting: []))

    package init() {}

    /// Lets everything that waits go, in the order in which it came.
    package func open() {
        let waiting = self.state.withLock { state in
            defer { state = .open }
            if case .closed(let waiting) = state { return waiting }
            return []
        }
        for body in waiting { body() }
    }

    /// Calls the body once, now or on the thread that opens the gate.
    func whenOpen(_ body: @escaping @Sendable () -> Void) {
        let isOpen = self.state.withLock { state in
            guard case .closed(var waiting) = state else { return true }
            waiting.append(body)
            state = .closed(waiting: waiting)
            return false
        }
        if isOpen { body() }
    }

    package static func == (left: FaultGate, right: FaultGate) -> Bool { left === right }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
