package import Foundation
import SwiftASN1
import X509

/// The certificates in the `tls` folder of a data folder.
///
/// ```text
/// DIR/tls/             0700
///     ca.pem           the authority that clients trust; handed out
///     ca-key.pem       0600  signs the server's certificates
///     server.pem       the server's certificate
///     server-key.pem   0600  its key
/// ```
///
/// All files have mode 0600: handing out `ca.pem` is the operator's decision. An operator may move
/// `ca-key.pem` to a safe place. It is needed again to renew the server's certificate.
package struct CertificateFiles: Sendable {
    /// The changes made to the files.
    package enum Event: Hashable, Sendable {
        /// The folder was empty; a new authority and a new certificate were made.
        case made
        /// The existing authority signed a new certificate. Clients need no change.
        case reissued(Reason)
        case reused
    }

    package enum Reason: Hashable, Sendable {
        /// Fewer than 30 days were left.
        case expires
        /// The server listens on a host that the certificate does not name.
        case hostMissing
        /// A file is missing, damaged, or does not match the others.
        case unusable
    }

    package let authorityPath: String
    package let chainPEM: String
    package let keyPEM: String
    package let event: Event
    /// The folder and the keys that other users had access to until now.
    package var narrowed: [String] = []

    static let renewalSeconds: TimeInterval = 30 * 86_400

    /// Loads the certificates of a data folder, and makes those that are missing or about to
    /// expire.
    ///
    /// Other users lose their permissions on the folder and the keys in it. Two processes must not
    /// call this at once for the same folder; the caller locks it.
    ///
    /// - Parameters:
    ///   - directory: The data folder; exists.
    ///   - hosts: The hosts that clients connect to, as in `ServerCertificates.make`.
    ///   - now: The time for checks of expiry, and the start of validity of new certificates.
    /// - Durability: Files are replaced whole and are on disk when this returns.
    /// - Returns: The certificates to serve with, and the changes made to the files.
    /// - Throws: `CertificateFilesError`, or an error of the file system.
    package static func loadOrMake(
        directory: String,
        hosts: [String],
        now: Date = Date()
    ) throws -> CertificateFiles {
        let folder = directory + "/tls"
        try PrivateFile.makeFolder(folder)
        let narrowed = try [folder, folder + "/ca-key.pem", folder + "/server-key.pem"]
            .filter { try PrivateFile.narrow($0) }
        var files = try Self.loadOrMake(folder: folder, hosts: hosts, now: now)
        files.narrowed = narrowed
        return files
    }

    private static func loadOrMake(folder: String, hosts: [String], now: Date) throws -> CertificateFiles {
        let stored = try StoredPEM(folder: folder)
        guard let authorityPEM = stored.authority else {
            guard stored.chain == nil, stored.key == nil else {
                throw CertificateFilesError.authorityMissing(path: folder + "/ca.pem")
            }
            let made = try ServerCertificates.make(hosts: hosts, now: now)
            // The key comes first. A crash before the certificate leaves a key that signed nothing,
            // which is then replaced.
            try PrivateFile.write(made.authorityKeyPEM, to: folder + "/ca-key.pem")
            try PrivateFile.write(made.authorityPEM, to: folder + "/ca.pem")
            return try self.store(made, folder: folder, event: .made)
        }
        guard let authority = try? Certificate(pemEncoded: authorityPEM) else {
            throw CertificateFilesError.authorityUnreadable(path: folder + "/ca.pem")
        }
        let flaw = stored.flaw(authority: authority, hosts: hosts, now: now)
        guard let flaw else {
            return CertificateFiles(
                authorityPath: folder + "/ca.pem",
                chainPEM: stored.chain ?? "",
                keyPEM: stored.key ?? "",
                event: .reused
            )
        }
        guard authority.notValidAfter > now.addingTimeInterval(Self.renewalSeconds) else {
            throw CertificateFilesError.authorityExpired(path: folder + "/ca.pem")
        }
        guard let keyPEM = stored.authorityKey, let key = try? Certificate.PrivateKey(pemEncoded: keyPEM),
            key.publicKey == authority.publicKey
        else {
            throw CertificateFilesError.authorityKeyMissing(path: folder + "/ca-key.pem")
        }
        let made = try ServerCertificates.make(
            hosts: flaw == .hostMissing ? hosts + stored.hosts : hosts,
            authority: PrivateAuthority(certificate: authority, key: key),
            now: now
        )
        return try self.store(made, folder: folder, event: .reissued(flaw))
    }

    /// Writes the server's certificate and key.
    ///
    /// After a crash between the two they do not match, and are made again.
    private static func store(
        _ made: ServerCertificates,
        folder: String,
        event: Event
    ) throws -> CertificateFiles {
        try PrivateFile.write(made.keyPEM, to: folder + "/server-key.pem")
        try PrivateFile.write(made.chainPEM, to: folder + "/server.pem")
        return CertificateFiles(
            authorityPath: folder + "/ca.pem",
            chainPEM: made.chainPEM,
            keyPEM: made.keyPEM,
            event: event
        )
    }
}

/// Why the existing authority cannot be used.
///
/// It is never replaced silently, because every client trusts it.
package enum CertificateFilesError: Error, Hashable, Sendable {
    /// There are certificates, but the authority that clients trust is missing. Restore it, or
    /// remove the folder to start over.
    case authorityMissing(path: String)
    /// Restore the file, or remove the folder to start over.
    case authorityUnreadable(path: String)
    /// A new server certificate is due, but the key that signs it is missing or belongs to another
    /// authority. Restore it.
    case authorityKeyMissing(path: String)
    /// After ten years. Remove the folder to start over, and hand the new authority to all clients.
    case authorityExpired(path: String)
}

/// The folder's contents as text; `nil` for a file that does not exist.
private struct StoredPEM {
    let authority: String?
    let authorityKey: String?
    let chain: String?
    let key: String?

    init(folder: String) throws {
        self.authority = try PrivateFile.read(folder + "/ca.pem")
        self.authorityKey = try PrivateFile.read(folder + "/ca-key.pem")
        self.chain = try PrivateFile.read(folder + "/server.pem")
        self.key = try PrivateFile.read(folder + "/server-key.pem")
    }

    /// Bound on the names that a new certificate takes over from the old one.
    private static let hostsKeptMax = 100

    /// The hosts of the certificate.
    ///
    /// A new one keeps them, so that two starts with one host each do not replace it in turn.
    var hosts: [String] {
        guard let certificate = self.chain.flatMap({ try? Certificate(pemEncoded: $0) }) else { return [] }
        return Array(HostNames.hosts(of: certificate).prefix(Self.hostsKeptMax))
    }

    /// Why the server's certificate cannot be served, or `nil` if it can.
    func flaw(authority: Certificate, hosts: [String], now: Date) -> CertificateFiles.Reason? {
        guard let chain = self.chain, let key = self.key,
            let certificate = try? Certificate(pemEncoded: chain),
            let privateKey = try? Certificate.PrivateKey(pemEncoded: key),
            privateKey.publicKey == certificate.publicKey,
            certificate.issuer == authority.subject,
            authority.publicKey.isValidSignature(certificate.signature, for: certificate)
        else { return .unusable }
        guard certificate.notValidAfter > now.addingTimeInterval(CertificateFiles.renewalSeconds) else {
            return .expires
        }
        guard let names = try? certificate.extensions.subjectAlternativeNames else { return .unusable }
        return HostNames.names(for: hosts).allSatisfy(names.contains) ? nil : .hostMissing
    }
}
