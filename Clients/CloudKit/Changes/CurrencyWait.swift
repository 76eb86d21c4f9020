/// The pauses of a caller that waits until a reader is current.
struct CurrencyWait {
    private static let shortest = Duration.milliseconds(10)
    private static let longest = Duration.milliseconds(250)
    /// After an error for which the server names no time.
    private static let afterError = Duration.seconds(1)
    private static let askAfter = Duration.seconds(1)

    private let end: ContinuousClock.Instant
    private var length = Self.shortest
    private var asked = ContinuousClock.now

    init(timeout: Duration) {
        self.end = .now + timeout
    }

    /// Pauses, each time twice as long.
    ///
    /// - Returns: `false` if the time has passed.
    /// - Throws: `CancellationError` if the task is cancelled.
    mutating func pause() async throws -> Bool {
        let length = self.length
        self.length = min(length * 2, Self.longest)
        return try await self.sleep(length)
    }

    /// Pauses as long as an error asks for, and never so briefly that a server's zero is a busy loop.
    mutating func pause(for error: CKError) async throws -> Bool {
        try await self.sleep(max(error.pause ?? Self.afterError, Self.longest))
    }

    /// Whether it is time to ask the server again; true once.
    mutating func mustAsk() -> Bool {
        guard .now - self.asked >= Self.askAfter else { return false }
        self.asked = .now
        return true
    }

    private func sleep(_ length: Duration) async throws -> Bool {
        let left = self.end - .now
        guard left > .zero else { return false }
        try await Task.sleep(for: min(length, left))
        return true
    }
}
