import CloudKit

/// Asks again and again while an answer may come.
enum Patience {
    /// Between attempts, when the server names no time.
    static let pause = Duration.seconds(5)

    /// Does something until it succeeds or fails for good.
    ///
    /// A token that is refused is no end: an operator may have revoked it for a moment, and the listener waits for him anyway.
    static func patiently<Value>(_ body: () async throws -> Value) async throws -> Value {
        while true {
            do {
                return try await body()
            } catch let error as CKError {
                try Task.checkCancellation()
                let pause: Duration
                switch error.retryAdvice {
                case .now: pause = self.pause
                case .after(let seconds): pause = .seconds(seconds)
                case .never, .afterChange:
                    guard error.code == .notAuthenticated else { throw error }
                    pause = self.pause
                }
                Output.status("\(error.localizedDescription); asking again in \(pause.text)")
                try await Task.sleep(for: pause)
            }
        }
    }
}

extension Duration {
    /// For people, in seconds, to a tenth.
    var text: String {
        let tenths = Int64((self / .milliseconds(100)).rounded(.up))
        return "\(tenths / 10).\(tenths % 10) s"
    }
}
