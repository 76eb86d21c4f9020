import NIOSSL

/// The text of a connection's error for operators.
///
/// TLS errors contain a source path of the machine that built the library and a number; both are
/// left out.
enum ConnectionFailureText {
    /// BoringSSL's reasons that an operator can fix.
    private static let advice = [
        "HTTP_REQUEST": "the client speaks HTTP, not TLS",
        "HTTPS_PROXY_REQUEST": "the client speaks to an HTTP proxy, which this is not",
        "WRONG_VERSION_NUMBER": "the client speaks no TLS",
        "UNSUPPORTED_PROTOCOL": "the client knows no TLS 1.3",
        "TLSV1_ALERT_PROTOCOL_VERSION": "the client knows no TLS 1.3",
        "TLSV1_ALERT_UNKNOWN_CA": Self.untrusted,
        "SSLV3_ALERT_CERTIFICATE_UNKNOWN": Self.untrusted,
        "SSLV3_ALERT_BAD_CERTIFICATE": Self.untrusted,
        "EOF during handshake": "the client ended the connection in the TLS handshake",
    ]
    private static let untrusted =
        "the client does not trust the certificate: it needs the authority's file (TIDEMARK_CA), and a name that "
        + "the certificate has"

    static func of(_ error: any Error) -> String {
        if case .handshakeFailed(let inner) = error as? NIOSSLError { return self.of(inner) }
        switch error as? BoringSSLError {
        case .sslError(let stack), .unknownError(let stack):
            let reasons = stack.map { self.reason(in: $0.description) }
            return reasons.isEmpty ? "TLS failed" : reasons.joined(separator: "; ")
        default:
            return "\(error)"
        }
    }

    /// Takes `Error: NUMBER error:NUMBER:LIBRARY:FUNCTION:REASON at PATH:LINE`, or `Error:
    /// REASON`.
    static func reason(in description: String) -> String {
        let named =
            description.firstRange(of: " at ").map { description[..<$0.lowerBound] } ?? description[...]
        let reason = named.split(separator: ":").last.map { String($0.drop { $0 == " " }) } ?? ""
        if let advice = self.advice[reason] { return advice }
        return reason.replacing("_", with: " ").lowercased()
    }
}
