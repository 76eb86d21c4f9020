/// Versions of the protocol, and its name in TLS.
package enum ProtocolVersion {
    /// The version that this code speaks.
    package static let current: UInt32 = 1
    /// The application protocol offered in the TLS handshake (ALPN).
    package static let alpn = "tidemark/1"
    package static let defaultPort = 7430
}
