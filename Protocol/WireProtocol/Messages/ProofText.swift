package import RecordModel

/// The text that a service signs: everything that the server is to trust, and nothing that is valid
/// for another connection, server or container.
///
///     "tidemark/1 proof" 00                      17 bytes
///     nonce of the challenge                     32 bytes
///     SHA-256 of the server's certificate        32 bytes, over its DER
///     environment                                1 byte
///     container, key ID, on_behalf_of            each after its length, 2 bytes in network byte order
///
/// - Source: `Protocol/README.md`, section 3.2.
package enum ProofText {
    private static let label = Array("tidemark/1 proof".utf8) + [0]

    package static func bytes(
        nonce: [UInt8],
        certificateHash: [UInt8],
        environment: Environment,
        container: String,
        key: ServiceKeyName
    ) -> [UInt8] {
        var bytes = self.label + nonce + certificateHash + [environment.rawValue]
        for text in [container, key.keyID, key.onBehalfOf] {
            let count = UInt16(clamping: text.utf8.count)
            bytes += [UInt8(count >> 8), UInt8(count & 0xFF)] + Array(text.utf8)
        }
        return bytes
    }
}
