import CLibCrypto

/// A key in libcrypto's memory, freed with its last reference.
// SAFETY: no call changes a key after it was read or made, and libcrypto locks what it adds to it.
final class KeyReference: @unchecked Sendable {
    let pointer: OpaquePointer

    private init?(_ pointer: OpaquePointer?) {
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(self.pointer) }

    /// Makes a key on the curve P-256.
    static func made() -> KeyReference? {
        LibCrypto.start
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            EVP_PKEY_generate(context, &key) == 1
        else { return nil }
        return KeyReference(key)
    }

    // MARK: Reading

    // Without a function for passwords, libcrypto asks for that of an encrypted key at the terminal.

    convenience init?(publicDER der: [UInt8]) {
        LibCrypto.start
        defer { ERR_clear_error() }
        // SAFETY: the bytes are read within the call, which knows their number.
        let key = der.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return d2i_PUBKEY(nil, &next, bytes.count)
        }
        self.init(key)
    }

    convenience init?(publicPEM pem: String) {
        self.init(Self.read(pem) { PEM_read_bio_PUBKEY($0, nil, { _, _, _, _ in -1 }, nil) })
    }

    convenience init?(privatePEM pem: String) {
        self.init(Self.read(pem) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) })
    }

    private static func read(_ pem: String, _ read: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        LibCrypto.start
        defer { ERR_clear_error() }
        let text = Array(pem.utf8)
        // SAFETY: the bytes are read within the call, and the source of them knows their number.
        return text.withUnsafeBytes { bytes in
            guard let count = Int32(exactly: bytes.count),
                let source = BIO_new_mem_buf(bytes.baseAddress, count)
            else { return nil }
            defer { BIO_free(source) }
            return read(source)
        }
    }

    // MARK: Writing

    /// The public key in DER; `nil` if it has another number of bytes.
    func publicDER(bytes: Int) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard i2d_PUBKEY(self.pointer, nil) == bytes else { return nil }
        var der = [UInt8](repeating: 0, count: bytes)
        // SAFETY: the memory is the array's, which has as many bytes as will be written.
        let written = der.withUnsafeMutableBufferPointer { memory in
            var next = memory.baseAddress
            return i2d_PUBKEY(self.pointer, &next)
        }
        return written == bytes ? der : nil
    }

    /// The private key as PKCS #8 in PEM.
    func privatePEM() -> String? {
        guard let target = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(target) }
        guard PEM_write_bio_PKCS8PrivateKey(target, self.pointer, nil, nil, 0, nil, nil) == 1 else {
            return nil
        }
        var text = [UInt8](repeating: 0, count: BIO_ctrl_pending(target))
        guard BIO_read(target, &text, Int32(clamping: text.count)) == text.count else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}
