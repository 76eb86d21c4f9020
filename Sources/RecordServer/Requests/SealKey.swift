import RecordStore
import SystemCrypto

/// The key that seals the server's tokens in clients' hands: one for all servers of a store, for
/// the store's lifetime.
///
///     sealed = contents HMAC-SHA256(contents purpose)
struct SealKey: Sendable {
    /// Tokens sealed for one purpose do not open for another.
    enum Purpose: UInt8 {
        case cursor = 1
        case token = 2
    }

    static let sealBytes = SHA256.byteCount

    /// The HMAC state after the key, which costs more to compute than a token's contents.
    private let keyed: HMACSHA256

    init(_ bytes: [UInt8]) {
        self.keyed = HMACSHA256(key: bytes)
    }

    /// The key of a store; made if there is none yet.
    init(of directory: Directory) throws(DirectoryError) {
        var random = SystemRandomNumberGenerator()
        let candidate = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        self.init(try directory.secret(named: "cursor", orStoring: candidate))
    }

    func sealed(_ contents: [UInt8], as purpose: Purpose) -> [UInt8] {
        contents + self.seal(of: contents, as: purpose)
    }

    /// The contents of sealed bytes, or `nil` if the seal is wrong.
    ///
    /// Compares in constant time.
    func opened(_ bytes: [UInt8], as purpose: Purpose) -> [UInt8]? {
        guard bytes.count > Self.sealBytes else { return nil }
        let contents = Array(bytes.dropLast(Self.sealBytes))
        let seal = self.seal(of: contents, as: purpose)
        return ConstantTime.areEqual(seal, Array(bytes.suffix(Self.sealBytes))) ? contents : nil
    }

    private func seal(of contents: [UInt8], as purpose: Purpose) -> [UInt8] {
        self.keyed.code(of: contents + [purpose.rawValue])
    }
}
