import Crypto
import Foundation
import SwiftASN1
import X509

/// A certificate authority of one server.
///
/// It signs that server's certificates and nothing else.
struct PrivateAuthority {
    let certificate: Certificate
    let key: Certificate.PrivateKey

    static let validitySeconds: TimeInterval = 10 * 365 * 86_400
    /// The longest validity that Apple's clients accept.
    static let serverValiditySeconds: TimeInterval = 825 * 86_400
    /// Certificates start in the past, for clients with a clock that is behind.
    static let clockSkewSeconds: TimeInterval = 3_600

    init(certificate: Certificate, key: Certificate.PrivateKey) {
        self.certificate = certificate
        self.key = key
    }

    /// Makes a new authority.
    init(now: Date) throws {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        // The key's fingerprint keeps the authorities of several servers apart in a client's trust
        // store.
        let keyID = SubjectKeyIdentifier(hash: key.publicKey)
        let fingerprint = keyID.keyIdentifier.prefix(4).map { String(format: "%02x", $0) }.joined()
        let name = try DistinguishedName {
            CommonName("Tidemark private authority \(fingerprint)")
        }
        let start = now.addingTimeInterval(-Self.clockSkewSeconds)
        self.certificate = try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key.publicKey,
            notValidBefore: start,
            notValidAfter: start.addingTimeInterval(Self.validitySeconds),
            issuer: name,
            subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                keyID
            },
            issuerPrivateKey: key
        )
        self.key = key
    }

    /// Signs a server certificate.
    ///
    /// It is valid for as long as clients accept, and no longer than the authority itself.
    func issue(for publicKey: Certificate.PublicKey, hosts: [String], now: Date) throws -> Certificate {
        let start = now.addingTimeInterval(-Self.clockSkewSeconds)
        let end = min(
            start.addingTimeInterval(Self.serverValiditySeconds),
            self.certificate.notValidAfter
        )
        let authorityKeyID = SubjectKeyIdentifier(hash: self.key.publicKey).keyIdentifier
        return try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: publicKey,
            notValidBefore: start,
            notValidAfter: end,
            issuer: self.certificate.subject,
            subject: try DistinguishedName { CommonName("Tidemark server") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(HostNames.names(for: hosts))
                SubjectKeyIdentifier(hash: publicKey)
                AuthorityKeyIdentifier(keyIdentifier: authorityKeyID)
            },
            issuerPrivateKey: self.key
        )
    }
}
