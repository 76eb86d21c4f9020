import CLibCrypto

/// The two numbers of a signature on P-256.
///
///     raw: r s, 32 bytes each        DER: 30 length  02 length r  02 length s
struct ECDSASignature: ~Copyable {
    private static let numberBytes: Int32 = 32

    private let pointer: OpaquePointer

    init?(raw: [UInt8]) {
        let half = Int(Self.numberBytes)
        guard raw.count == 2 * half, let pointer = ECDSA_SIG_new() else { return nil }
        let r = BN_bin2bn(Array(raw[..<half]), Self.numberBytes, nil)
        let s = BN_bin2bn(Array(raw[half...]), Self.numberBytes, nil)
        // Takes both numbers, or none.
        guard ECDSA_SIG_set0(pointer, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            ECDSA_SIG_free(pointer)
            return nil
        }
        self.pointer = pointer
    }

    init?(der: [UInt8]) {
        // SAFETY: the bytes are read within the call, which knows their number.
        let pointer = der.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &next, bytes.count)
        }
        guard let pointer else { return nil }
        self.pointer = pointer
    }

    deinit { ECDSA_SIG_free(self.pointer) }

    var raw: [UInt8]? {
        var r = [UInt8](repeating: 0, count: Int(Self.numberBytes))
        var s = r
        guard BN_bn2binpad(ECDSA_SIG_get0_r(self.pointer), &r, Self.numberBytes) == Self.numberBytes,
            BN_bn2binpad(ECDSA_SIG_get0_s(self.pointer), &s, Self.numberBytes) == Self.numberBytes
        else { return nil }
        return r + s
    }

    var der: [UInt8]? {
        let count = i2d_ECDSA_SIG(self.pointer, nil)
        guard count > 0 else { return nil }
        var der = [UInt8](repeating: 0, count: Int(count))
        // SAFETY: the memory is the array's, which has as many bytes as will be written.
        let written = der.withUnsafeMutableBufferPointer { memory in
            var next = memory.baseAddress
            return i2d_ECDSA_SIG(self.pointer, &next)
        }
        return written == count ? der : nil
    }
}

/// The memory of libcrypto for one signature or one verification.
struct SigningContext: ~Copyable {
    let pointer: OpaquePointer

    init?() {
        guard let pointer = EVP_MD_CTX_new() else { return nil }
        self.pointer = pointer
    }

    deinit { EVP_MD_CTX_free(self.pointer) }
}
