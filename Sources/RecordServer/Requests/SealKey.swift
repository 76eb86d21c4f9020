import Crypto
import RecordStore

/// What the server's own words are sealed with while clients keep them: one key for all servers of a store, for as long as
/// the store lives.
///
///     sealed = contents HMAC-SHA256(contents purpose)
struct SealKey: Sendable {
    /// What one is sealed as does not open as the other.
    enum Purpose: UInt8 {
        case cursor = 1
        case token = 2
    }

    static let sealBytes = SHA256.byteCount

    private let key: SymmetricKey

    init(_ bytes: [UInt8]) {
        self.key = SymmetricKey(data: bytes)
    }

    /// The key of a store, made when there is none yet.
    init(of directory: any Directory) throws(DirectoryError) {
        var random = SystemRandomNumberGenerator()
        let candidate = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        self.init(try directory.secret(named: "cursor", orStoring: candidate))
    }

    func sealed(_ contents: [UInt8], as purpose: Purpose) -> [UInt8] {
        contents
            + HMAC<SHA256>.authenticationCode(for: contents + [purpose.rawValue], using: self.key)
    }

    /// The contents of what carries this seal, or `nil`.
    ///
    /// Compares in a time that tells nothing of the seal.
    func opened(_ bytes: [UInt8], as purpose: Purpose) -> [UInt8]? {
        guard bytes.count > Self.sealBytes else { return nil }
        let contents = Array(bytes.dropLast(Self.sealBytes))
        let isWhole = HMAC<SHA256>.isValidAuthenticationCode(
            bytes.suffix(Self.sealBytes),
            authenticating: contents + [purpose.rawValue],
            using: self.key
        )
        return isWhole ? contents : nil
    }
}
