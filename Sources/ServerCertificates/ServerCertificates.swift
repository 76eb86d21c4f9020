import Crypto
package import Foundation
import SwiftASN1
import X509

/// A private authority and a certificate signed by it, all in PEM.
///
/// A server without an operator's certificate uses them for TLS; clients must trust the authority.
package struct ServerCertificates: Hashable, Sendable {
    /// The certificate that clients trust: the content of `ca.pem`.
    package let authorityPEM: String
    /// The key that signs server certificates.
    ///
    /// Serving does not need it.
    package let authorityKeyPEM: String
    /// The server's certificate without the authority, which clients already have.
    package let chainPEM: String
    /// The server's key: P-256, PKCS #8.
    package let keyPEM: String

    /// Makes an authority and a server certificate for these hosts.
    ///
    /// - Parameters:
    ///   - hosts: DNS names and addresses that clients connect to. `localhost`, the loopback
    ///     addresses and the name of this machine are always added. Wildcard addresses are left
    ///     out, because no client connects to them.
    ///   - now: The start of validity, less an hour for clocks that are behind.
    /// - Returns: A new authority and its certificate; no two calls return the same.
    /// - Throws: An error of the certificate encoder; for no value of `hosts`.
    package static func make(hosts: [String], now: Date = Date()) throws -> ServerCertificates {
        let authority = try PrivateAuthority(now: now)
        return try self.make(hosts: hosts, authority: authority, now: now)
    }

    static func make(hosts: [String], authority: PrivateAuthority, now: Date) throws -> ServerCertificates {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let certificate = try authority.issue(for: key.publicKey, hosts: hosts, now: now)
        return ServerCertificates(
            authorityPEM: try authority.certificate.serializeAsPEM().pemString + "\n",
            authorityKeyPEM: try authority.key.serializeAsPEM().pemString + "\n",
            chainPEM: try certificate.serializeAsPEM().pemString + "\n",
            keyPEM: try key.serializeAsPEM().pemString + "\n"
        )
    }
}
