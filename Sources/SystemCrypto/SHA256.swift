import CLibCrypto

/// SHA-256 of bytes that pass in pieces.
///
/// A copy continues by itself. libcrypto fails here only if there is no memory. Then the process
/// ends, as it does when Swift finds none.
package struct SHA256: Sendable {
    package static let byteCount = 32

    private var context = DigestContext()

    package init() {}

    // SAFETY: the bytes are read within the call only.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        if !isKnownUniquelyReferenced(&self.context) {
            self.context = DigestContext(copying: self.context)
        }
        self.context.add(bytes)
    }

    package mutating func add(_ bytes: [UInt8]) {
        // SAFETY: the bytes are read within the call only.
        bytes.withUnsafeBytes { self.add($0) }
    }

    package mutating func add(_ text: String) { self.add(Array(text.utf8)) }

    /// The hash of all bytes added so far; more may follow.
    package var value: [UInt8] { DigestContext(copying: self.context).finish() }

    /// Returns the hash of bytes that are all there.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: Self.byteCount)
        guard EVP_Digest(bytes, bytes.count, &value, nil, LibCrypto.sha256, nil) == 1 else {
            preconditionFailure("SHA-256 failed: \(CryptoFailure().reason)")
        }
        return value
    }

    package static func hash(_ text: String) -> [UInt8] { Self.hash(Array(text.utf8)) }
}

/// The state of one computation, in libcrypto's memory.
// SAFETY: `SHA256` changes it only while it has the one reference to it.
private final class DigestContext: @unchecked Sendable {
    private let pointer: OpaquePointer

    init() {
        self.pointer = Self.allocated()
        self.check(EVP_DigestInit_ex2(self.pointer, LibCrypto.sha256, nil))
    }

    init(copying other: DigestContext) {
        self.pointer = Self.allocated()
        self.check(EVP_MD_CTX_copy_ex(self.pointer, other.pointer))
    }

    deinit { EVP_MD_CTX_free(self.pointer) }

    // SAFETY: the bytes are read within the call only.
    func add(_ bytes: UnsafeRawBufferPointer) {
        self.check(EVP_DigestUpdate(self.pointer, bytes.baseAddress, bytes.count))
    }

    /// Returns the hash; nothing may be added after that.
    func finish() -> [UInt8] {
        var value = [UInt8](repeating: 0, count: SHA256.byteCount)
        self.check(EVP_DigestFinal_ex(self.pointer, &value, nil))
        return value
    }

    private static func allocated() -> OpaquePointer {
        guard let pointer = EVP_MD_CTX_new() else { preconditionFailure("no memory for a hash") }
        return pointer
    }

    private func check(_ outcome: Int32) {
        guard outcome == 1 else { preconditionFailure("SHA-256 failed: \(CryptoFailure().reason)") }
    }
}
