package import Foundation
import SwiftASN1
import X509

/// A certificate chain and its key that an operator brings, checked before they are served.
package struct CertificatePair: Hashable, Sendable {
    /// The server's certificate first.
    package let chainPEM: String
    package let keyPEM: String
    /// The end of the server's certificate.
    package let expires: Date

    /// Reads two files, which may be one.
    ///
    /// - Parameters:
    ///   - chainPath: Certificates in PEM, the server's first.
    ///   - keyPath: Its key in PEM, without a password.
    ///   - now: What expiry is judged by.
    /// - Returns: What to serve with.
    /// - Throws: What is wrong, and with which file.
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

    /// Whether a key may be read by more users than its owner, or written.
    ///
    /// A group may read it whose members an operator has chosen: of root's file, or the server's own.
    ///
    /// - Source: PostgreSQL, `ssl_key_file`.
    private static func isShared(_ status: FileStatus) -> Bool {
        guard status.isFile, status.othersMode != 0 else { return false }
        guard status.othersMode == 0o040 else { return true }
        return status.owner != 0 && status.group != getegid()
    }

    /// A block of a PEM file, with its first and last line.
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

    /// More than any chain has; a file of another kind is not read as a whole.
    private static let fileBytesMax = 1_024 * 1_024

    /// The blocks of a file; what stands between them is of no account.
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
        // The older form has its cipher in headers.
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
            // Reading a folder, say.
            throw CertificatePairError(path, .unreadable(errno: EISDIR))
        }
    }
}

/// What is wrong with a file that an operator named.
package struct CertificatePairError: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        /// The system's error.
        case unreadable(errno: Int32)
        case noPEM
        /// There is something in it, a key for instance, but no certificate.
        case noCertificate
        /// There is something in it, a certificate for instance, but no key.
        case noKey
        case encryptedKey
        /// Other users may read it, or write to it.
        case sharedKey(mode: UInt32)
        /// What is between the first and the last line cannot be read.
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
