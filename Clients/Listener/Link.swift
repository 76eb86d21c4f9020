import CloudKit
import Synchronization

/// The state of the connection, as it was reported to people, and the errors that can never go
/// away.
///
/// There is one line for one cause: a lost connection is reported once, not for each request.
final class Link: Sendable {
    /// The pause between attempts, if the server names no time.
    private static let pause = Duration.seconds(5)
    /// The pause after a request that broke with its connection, which is made again meanwhile.
    private static let briefPause = Duration.seconds(1)
    /// The longest pause between attempts that achieve nothing.
    private static let longPause = Duration.seconds(300)

    private struct State {
        var isListening = false
        /// Whether the server has accepted the listener: an operator may then correct any other
        /// error.
        var wasLetIn = false
        /// Whether the subscriptions are saved.
        var isReady = false
    }

    /// Whether a connection listens, and so reports its own state.
    private let listens: Bool
    private let state = Mutex(State())
    private let failures: AsyncThrowingStream<Void, any Error>
    private let failure: AsyncThrowingStream<Void, any Error>.Continuation

    init(listens: Bool) {
        self.listens = listens
        (self.failures, self.failure) = AsyncThrowingStream.makeStream()
    }

    /// Waits for an error that ends the listener.
    ///
    /// - Throws: `ListenFailure` for an error that can never go away; `CancellationError`.
    func untilFailed() async throws {
        for try await _ in self.failures {}
        throw CancellationError()
    }

    /// Reports from now on when the server listens, because the subscriptions exist.
    func becameReady() {
        let isListening = self.state.withLock { state in
            state.isReady = true
            return state.isListening
        }
        if isListening { Output.status("listening") }
    }

    /// Notes that the listening connection has begun or ended.
    func report(_ status: CKListeningStatus) {
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

    /// Sends a request until there is a response.
    ///
    /// - Throws: `CKError` if a retry does not help; `CancellationError`.
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
                case .after(let seconds): try await self.wait(max(.seconds(seconds), Self.briefPause), error)
                case .afterChange: throw error
                case .never:
                    guard error.isOfSetting, !self.isFinal(error) else { throw error }
                    try await self.wait(Self.pause, error)
                }
            }
        }
    }

    /// Returns whether waiting does not help against an error.
    ///
    /// Before the server has accepted the listener, that is any error which the SDK advises never
    /// to retry. After that an operator may correct any error but that of the credential. It was
    /// revoked or has expired, and the listener has no other.
    private func isFinal(_ error: CKError) -> Bool {
        guard error.retryAdvice == .never else { return false }
        return error.code == .notAuthenticated || !self.state.withLock { $0.wasLetIn }
    }

    /// Waits a second before the second attempt at something, and twice as long before each that follows.
    func wait(beforeAttempt number: Int, _ cause: String) async throws {
        let pause = min(Self.briefPause * (1 << min(number - 2, 20)), Self.longPause)
        Output.status("\(cause) again: fetching everything in it in \(pause.text)")
        try await Task.sleep(for: pause)
    }

    private func wait(_ pause: Duration, _ error: CKError) async throws {
        // A request often notices a broken connection before the listener does.
        if self.listens, error.isOfConnection {
            try await Task.sleep(for: pause)
            guard self.state.withLock({ $0.isListening }) else { return }
            return Output.status("\(error.localizedDescription); retrying")
        }
        Output.status("\(error.localizedDescription); retrying in \(pause.text)")
        try await Task.sleep(for: pause)
    }
}

extension CKError {
    /// Whether the connection is at fault, and not the request.
    fileprivate var isOfConnection: Bool {
        switch self.code {
        case .networkFailure, .networkUnavailable, .serverResponseLost: true
        default: self.isOfSetting
        }
    }

    /// Whether the address, the container, the certificate or the credential is at fault.
    fileprivate var isOfSetting: Bool { self.code == .badContainer || self.code == .notAuthenticated }
}

extension Duration {
    /// The time for people, in seconds, to a tenth.
    var text: String {
        let tenths = Int64((self / .milliseconds(100)).rounded(.up))
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
