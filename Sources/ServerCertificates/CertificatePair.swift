package import Foundation
import SwiftASN1
import X509

/// An operator's certificate chain and its key, checked before they are served.
package struct CertificatePair: Hashable, Sendable {
    /// The server's certificate comes first.
    package let chainPEM: String
    package let keyPEM: String
    /// Expiry of the server's certificate.
    package let expires: Date

    /// Reads the chain and the key.
    ///
    /// Both paths may name one file.
    ///
    /// - Parameters:
    ///   - chainPath: Certificates in PEM, the server's first.
    ///   - keyPath: Its key in PEM, without a password.
    ///   - now: The time for checks of expiry.
    /// - Returns: The checked chain and key.
    ///
    /// - Throws: The fault, and the file that has it.
    package static func load(
        chainPath: String,
        keyPath: String,
        now: Date = Date()
    ) throws(CertificatePairError) -> CertificatePair {
        let chain = try Self.blocks(in: chainPath)
        let key = try Self.blocks(in: keyPath)
        let certificates = chain.filter { $0.kind == .certificate }
        guard let first = certificates.first else {
            throw CertificatePairError(chainPath, chain.isEmpty ? .noPEM : .noCertificate)
        }
        guard let keyBlock = key.first(where: { $0.kind == .key || $0.kind == .encryptedKey }) else {
            throw CertificatePairError(keyPath, key.isEmpty ? .noPEM : .noKey)
        }
        guard keyBlock.kind == .key else { throw CertificatePairError(keyPath, .encryptedKey) }
        if let status = FileStatus(path: keyPath), Self.isShared(status) {
            throw CertificatePairError(keyPath, .sharedKey(mode: status.mode))
        }
        guard let certificate = try? Certificate(pemEncoded: first.text) else {
            throw CertificatePairError(chainPath, .damaged)
        }
        guard let privateKey = try? Certificate.PrivateKey(pemEncoded: keyBlock.text) else {
            throw CertificatePairError(keyPath, .damaged)
        }
        guard privateKey.publicKey == certificate.publicKey else {
            throw CertificatePairError(keyPath, .keyOfAnother(certificatePath: chainPath))
        }
        guard certificate.notValidAfter > now else {
            throw CertificatePairError(chainPath, .expired(certificate.notValidAfter))
        }
        guard certificate.notValidBefore <= now else {
            throw CertificatePairError(chainPath, .notYetValid(certificate.notValidBefore))
        }
        return CertificatePair(
            chainPEM: certificates.map(\.text).joined(separator: "\n") + "\n",
            keyPEM: keyBlock.text + "\n",
            expires: certificate.notValidAfter
        )
    }

    /// Whether users other than the owner may read or write a key.
    ///
    /// A group that the operator has chosen may read it, if the file belongs to root or to the
    /// server's own user.
    ///
    /// - Source: PostgreSQL, `ssl_key_file`.
    private static func isShared(_ status: FileStatus) -> Bool {
        guard status.isFile, status.othersMode != 0 else { return false }
        guard status.othersMode == 0o040 else { return true }
        return status.owner != 0 && status.group != getegid()
    }

    /// A block of a PEM file, including its first and last line.
    private struct Block {
        enum Kind {
            case certificate
            case key
            case encryptedKey
            case other
        }

        let kind: Kind
        let text: String
    }

    /// An upper bound for any chain.
    ///
    /// A file of another kind is not read as a whole.
    private static let fileBytesMax = 1_024 * 1_024

    /// The blocks of a file.
    ///
    /// Text between them is ignored.
    private static func blocks(in path: String) throws(CertificatePairError) -> [Block] {
        var blocks: [Block] = []
        var open: (label: String, lines: [Substring])?
        for line in try Self.text(of: path).split(whereSeparator: \.isNewline) {
            if line.hasPrefix("-----BEGIN "), line.hasSuffix("-----") {
                open = (String(line.dropFirst(11).dropLast(5)), [line])
            } else if let begun = open {
                open?.lines.append(line)
                guard line == "-----END \(begun.label)-----" else { continue }
                blocks.append(Self.block(begun.label, begun.lines + [line]))
                open = nil
            }
        }
        return blocks
    }

    private static func block(_ label: String, _ lines: [Substring]) -> Block {
        // The older form names its cipher in headers.
        let isEncrypted = label == "ENCRYPTED PRIVATE KEY" || lines.contains { $0.hasSuffix("ENCRYPTED") }
        let kind: Block.Kind =
            if label == "CERTIFICATE" {
                .certificate
            } else if label.hasSuffix("PRIVATE KEY") {
                isEncrypted ? .encryptedKey : .key
            } else {
                .other
            }
        return Block(kind: kind, text: lines.joined(separator: "\n"))
    }

    private static func text(of path: String) throws(CertificatePairError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CertificatePairError(path, .unreadable(errno: errno)) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            let data = try file.read(upToCount: Self.fileBytesMax) ?? Data()
            return String(decoding: data, as: UTF8.self)
        } catch {
            // For example a folder.
            throw CertificatePairError(path, .unreadable(errno: EISDIR))
        }
    }
}

/// A fault of a file that an operator named.
package struct CertificatePairError: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        /// The system's error.
        case unreadable(errno: Int32)
        case noPEM
        /// The file has content, for instance a key, but no certificate.
        case noCertificate
        /// The file has content, for instance a certificate, but no key.
        case noKey
        case encryptedKey
        /// Other users may read or write it.
        case sharedKey(mode: UInt32)
        /// The content between the first and the last line cannot be parsed.
        case damaged
        case keyOfAnother(certificatePath: String)
        case expired(Date)
        case notYetValid(Date)
    }

    package let path: String
    package let problem: Problem

    init(_ path: String, _ problem: Problem) {
        self.path = path
        self.problem = problem
    }
}
