import CLibCrypto

/// The start of libcrypto, once for a process.
enum LibCrypto {
    /// Starts libcrypto; every file that calls it does so first.
    ///
    /// libcrypto frees its memory when the process exits, unless the first call says otherwise.
    /// Threads may still compute hashes at that time.
    static let start: Void = { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }()

    /// SHA-256, which each look-up would search in all providers, under a lock.
    // SAFETY: never changed nor freed.
    nonisolated(unsafe) static let sha256: OpaquePointer = {
        Self.start
        guard let algorithm = EVP_MD_fetch(nil, "SHA256", nil) else {
            preconditionFailure("libcrypto has no SHA-256: \(CryptoFailure().reason)")
        }
        return algorithm
    }()
}

/// A call that libcrypto refused: it lacks memory or random numbers, or its configuration forbids
/// the algorithm.
package struct CryptoFailure: Error, Hashable {
    /// libcrypto's own words.
    package let reason: String

    /// Takes the reason of this thread's last failure.
    init() {
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(ERR_get_error(), &text, text.count)
        ERR_clear_error()
        self.reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Comparisons of secrets.
package enum ConstantTime {
    /// Whether two values are equal, in a time that depends on their lengths alone.
    package static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.count == second.count && CRYPTO_memcmp(first, second, first.count) == 0
    }
}
