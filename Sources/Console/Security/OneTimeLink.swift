import SystemCrypto

/// The secret in the link that opens a session: good once, and for five minutes.
///
///     open ──(right, in time)──► used
///       │└──(tenth wrong)──► exhausted
///       └───(time passed)──► expired
struct OneTimeLink: Sendable {
    /// The consequence of a wrong guess, or of a right one.
    enum OnGuess: Equatable {
        case admit
        case refuse
        /// There were as many wrong ones as may be: the console ends.
        case stop
    }

    static let lifetimeMilliseconds: Int64 = 5 * 60 * 1_000
    static let wrongMax = 10

    private var secretHash: [UInt8]?
    private var expiresMilliseconds: Int64
    private var wrongCount = 0

    /// `secret` is what `Secret.make` makes.
    init(secret: String, nowMilliseconds: Int64) {
        self.secretHash = Secret.hash(secret)
        self.expiresMilliseconds = nowMilliseconds + Self.lifetimeMilliseconds
    }

    /// Replaces the secret; wrong guesses stay counted.
    mutating func renew(secret: String, nowMilliseconds: Int64) {
        self.secretHash = Secret.hash(secret)
        self.expiresMilliseconds = nowMilliseconds + Self.lifetimeMilliseconds
    }

    /// Checks the secret of a request.
    mutating func guessed(_ secret: String, nowMilliseconds: Int64) -> OnGuess {
        if let secretHash, ConstantTime.areEqual(Secret.hash(secret), secretHash) {
            self.secretHash = nil
            return nowMilliseconds < self.expiresMilliseconds ? .admit : .refuse
        }
        self.wrongCount += 1
        return self.wrongCount >= Self.wrongMax ? .stop : .refuse
    }
}

/// Random text that an attacker cannot guess: 128 bits.
enum Secret {
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    static func hash(_ secret: String) -> [UInt8] { SHA256.hash(secret) }
}
