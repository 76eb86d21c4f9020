import CloudKit
import Synchronization

/// What is known of the server: whether it tells, what people were told of that, and what can never work.
///
/// One line for one cause: while the connection is gone, it is the connection that says so, and not every request.
final class Link: Sendable {
    /// Between attempts, when the server names no time.
    private static let pause = Duration.seconds(5)
    /// After a request that broke with its connection, which is made again meanwhile.
    private static let briefPause = Duration.seconds(1)

    private struct State {
        var isListening = false
        /// Once the server has let the listener in, an operator may mend whatever else comes.
        var wasLetIn = false
        /// What is asked for is subscribed to.
        var isReady = false
    }

    /// Whether a connection listens, and so tells of itself.
    private let listens: Bool
    private let state = Mutex(State())
    private let failures: AsyncThrowingStream<Void, any Error>
    private let failure: AsyncThrowingStream<Void, any Error>.Continuation

    init(listens: Bool) {
        self.listens = listens
        (self.failures, self.failure) = AsyncThrowingStream.makeStream()
    }

    /// Waits for what ends the listener.
    ///
    /// - Throws: `ListenFailure` for what can never work; `CancellationError`.
    func untilFailed() async throws {
        for try await _ in self.failures {}
        throw CancellationError()
    }

    /// Says from now on when the server tells: what was asked for is among it.
    func becameReady() {
        let isListening = self.state.withLock { state in
            state.isReady = true
            return state.isListening
        }
        if isListening { Output.status("listening") }
    }

    /// The connection that listens has begun or ceased to.
    func report(_ status: CKContainer.ListeningStatus) {
        switch status {
        case .listening:
            let isReady = self.state.withLock { state in
                state.isListening = true
                state.wasLetIn = true
                return state.isReady
            }
            if isReady { Output.status("listening") }
        case .interrupted(let error, let retryAfter):
            self.state.withLock { $0.isListening = false }
            if self.isFinal(error) { return self.failure.finish(throwing: ListenFailure(error)) }
            let next = retryAfter.map { seconds in
                seconds < 0.05 ? "; reconnecting" : "; reconnecting in \(Duration.seconds(seconds).text)"
            }
            Output.status(error.localizedDescription + (next ?? ""))
        @unknown default: break
        }
    }

    /// Asks until there is an answer.
    ///
    /// - Throws: The `CKError` of what asking again does not mend; `CancellationError`.
    func ask<Value>(_ body: () async throws -> Value) async throws -> Value {
        while true {
            do {
                let value = try await body()
                self.state.withLock { $0.wasLetIn = true }
                return value
            } catch let error as CKError {
                try Task.checkCancellation()
                switch error.retryAdvice {
                case .now: try await self.wait(error.isOfConnection ? Self.briefPause : Self.pause, error)
                case .after(let seconds): try await self.wait(.seconds(seconds), error)
                case .afterChange: throw error
                case .never:
                    guard error.isOfSetting, !self.isFinal(error) else { throw error }
                    try await self.wait(Self.pause, error)
                }
            }
        }
    }

    /// Whether nobody's waiting mends an error.
    ///
    /// Before the server has let the listener in, that is whatever the SDK advises never to send again. Afterwards an operator may
    /// mend all but the credential: that one is revoked or has expired, and the listener has no other.
    private func isFinal(_ error: CKError) -> Bool {
        guard error.retryAdvice == .never else { return false }
        return error.code == .notAuthenticated || !self.state.withLock { $0.wasLetIn }
    }

    private func wait(_ pause: Duration, _ error: CKError) async throws {
        // A request often hears of a broken connection before the listener does.
        if self.listens, error.isOfConnection {
            try await Task.sleep(for: pause)
            guard self.state.withLock({ $0.isListening }) else { return }
            return Output.status("\(error.localizedDescription); asking again")
        }
        Output.status("\(error.localizedDescription); asking again in \(pause.text)")
        try await Task.sleep(for: pause)
    }
}

extension CKError {
    /// Whether the connection is at fault, and not what was asked.
    fileprivate var isOfConnection: Bool {
        switch self.code {
        case .networkFailure, .networkUnavailable, .serverResponseLost: true
        default: self.isOfSetting
        }
    }

    /// Whether address, container, certificate or credential are at fault.
    fileprivate var isOfSetting: Bool { self.code == .badContainer || self.code == .notAuthenticated }
}

extension Duration {
    /// For people, in seconds, to a tenth.
    var text: String {
        let tenths = Int64((self / .milliseconds(100)).rounded(.up))
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
