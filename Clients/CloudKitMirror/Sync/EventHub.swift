private import Synchronization

/// The events of a mirror, for any number of readers.
final class EventHub: Sendable {
    private struct State {
        var continuations: [Int: AsyncStream<MirrorEvent>.Continuation] = [:]
        var nextNumber = 0
        var isFinished = false
    }

    /// A reader that is slower loses the oldest events.
    private static let bufferedMax = 1_000

    private let state = Mutex(State())

    func stream() -> AsyncStream<MirrorEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: MirrorEvent.self,
            bufferingPolicy: .bufferingNewest(Self.bufferedMax)
        )
        let number = self.state.withLock { state -> Int? in
            guard !state.isFinished else { return nil }
            defer { state.nextNumber += 1 }
            state.continuations[state.nextNumber] = continuation
            return state.nextNumber
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: number) }
        }
        return stream
    }

    func report(_ events: [MirrorEvent]) {
        guard !events.isEmpty else { return }
        let continuations = self.state.withLock { Array($0.continuations.values) }
        for continuation in continuations {
            for event in events { continuation.yield(event) }
        }
    }

    func finish() {
        let continuations = self.state.withLock { state in
            state.isFinished = true
            defer { state.continuations = [:] }
            return Array(state.continuations.values)
        }
        for continuation in continuations { continuation.finish() }
    }
}
