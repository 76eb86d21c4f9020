import Crypto
import RecordStore

/// The key that signs the server's own tokens while clients keep them: one for all servers of a
/// store, for as long as the store lives.
///
///     sealed = contents HMAC-SHA256(contents purpose)
struct SealKey: Sendable {
    /// What one is sealed as does not open as the other.
    enum Purpose: UInt8 {
        case cursor = 1
        case token = 2
    }

    static let sealBytes = SHA256.byteCount

    /// Has taken up the key already, which costs more than the contents of a token.
    private let keyed: HMAC<SHA256>

    init(_ bytes: [UInt8]) {
        self.keyed = HMAC(key: SymmetricKey(data: bytes))
    }

    /// The key of a store, made when there is none yet.
    init(of directory: Directory) throws(DirectoryError) {
        var random = SystemRandomNumberGenerator()
        let candidate = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        self.init(try directory.secret(named: "cursor", orStoring: candidate))
    }

    func sealed(_ contents: [UInt8], as purpose: Purpose) -> [UInt8] {
        contents + self.seal(of: contents, as: purpose)
    }

    /// The contents of what carries this seal, or `nil`.
    ///
    /// Compares in a time that tells nothing of the seal.
    func opened(_ bytes: [UInt8], as purpose: Purpose) -> [UInt8]? {
        guard bytes.count > Self.sealBytes else { return nil }
        let contents = Array(bytes.dropLast(Self.sealBytes))
        // Codes are compared in constant time, whatever they are compared with.
        return self.seal(of: contents, as: purpose) == bytes.suffix(Self.sealBytes) ? contents : nil
    }

    private func seal(of contents: [UInt8], as purpose: Purpose) -> HashedAuthenticationCode<SHA256> {
        var code = self.keyed
        code.update(data: contents)
        code.update(data: [purpose.rawValue])
        return code.finalize()
    }
}
