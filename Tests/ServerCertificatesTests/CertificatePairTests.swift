import Foundation
import ServerCertificates
import TestSupport
import Testing

/// Certificates that operators bring, right and wrong.
@Suite
struct CertificatePairTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let directory: TemporaryDirectory
    private let made: ServerCertificates

    init() throws {
        self.directory = try TemporaryDirectory()
        self.made = try ServerCertificates.make(hosts: ["db.example.org"], now: self.now)
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = self.directory.path + "/" + name
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o600)
        return path
    }

    @Test(arguments: [0o604, 0o644, 0o602, 0o620, 0o660, 0o666] as [mode_t])
    func `a key that others may read or write is refused`(mode: mode_t) throws {
        let chain = try self.file("chain.pem", self.made.chainPEM)
        let key = try self.file("key.pem", self.made.keyPEM)
        chmod(key, mode)
        #expect(try self.problem(chain: chain, key: key)?.problem == .sharedKey(mode: mode))
    }

    @Test func `the server's own group may read a key, and the file of the chain is anybody's`() throws {
        let chain = try self.file("chain.pem", self.made.chainPEM)
        chmod(chain, 0o644)
        let key = try self.file("key.pem", self.made.keyPEM)
        chmod(key, 0o640)
        #expect(throws: Never.self) {
            try CertificatePair.load(chainPath: chain, keyPath: key, now: self.now)
        }
        // Root may give files away.
        guard chown(key, 65_534, 65_534) == 0 else { return }
        #expect(try self.problem(chain: chain, key: key)?.problem == .sharedKey(mode: 0o640))
    }

    private func problem(
        chain: String,
        key: String
    ) throws -> (name: String, problem: CertificatePairError.Problem)? {
        let error = #expect(throws: CertificatePairError.self) {
            try CertificatePair.load(chainPath: chain, keyPath: key, now: self.now)
        }
        return error.map { (URL(fileURLWithPath: $0.path).lastPathComponent, $0.problem) }
    }

    @Test
    func `a chain and its key are taken, whatever stands around them, and also in one file`() throws {
        let chain = "Subject: db.example.org\r\n" + self.made.chainPEM + self.made.authorityPEM
        let apart = try CertificatePair.load(
            chainPath: self.file("chain.pem", chain),
            keyPath: self.file("key.pem", "# the key\n" + self.made.keyPEM),
            now: self.now
        )
        #expect(apart.chainPEM == self.made.chainPEM + self.made.authorityPEM)
        #expect(apart.keyPEM == self.made.keyPEM)
        let both = try self.file("both.pem", self.made.keyPEM + self.made.chainPEM)
        let together = try CertificatePair.load(chainPath: both, keyPath: both, now: self.now)
        #expect(together.chainPEM == self.made.chainPEM && together.keyPEM == self.made.keyPEM)
    }

    @Test
    func `the file at fault is named, and what is wrong with it`() throws {
        let chain = try self.file("chain.pem", self.made.chainPEM)
        let key = try self.file("key.pem", self.made.keyPEM)
        let other = try ServerCertificates.make(hosts: [], now: self.now)
        let text = try self.file("text.pem", "no PEM at all\n")
        let spoilt = self.made.chainPEM.replacingOccurrences(of: "M", with: "N")
        let expected: [(chain: String, key: String, name: String, problem: CertificatePairError.Problem)] = [
            (self.directory.path + "/none", key, "none", .unreadable(errno: ENOENT)),
            (chain, self.directory.path + "/none", "none", .unreadable(errno: ENOENT)),
            (text, key, "text.pem", .noPEM), (chain, text, "text.pem", .noPEM),
            (key, chain, "key.pem", .noCertificate), (chain, chain, "chain.pem", .noKey),
            (try self.file("spoilt.pem", spoilt), key, "spoilt.pem", .damaged),
            (
                chain, try self.file("other.pem", other.keyPEM), "other.pem",
                .keyOfAnother(certificatePath: chain)
            ),
        ]
        for wrong in expected {
            let found = try #require(try self.problem(chain: wrong.chain, key: wrong.key))
            #expect(found.name == wrong.name && found.problem == wrong.problem, "\(found)")
        }
    }

    @Test
    func `an encrypted key is one, in both forms`() throws {
        let chain = try self.file("chain.pem", self.made.chainPEM)
        let label = "ENCRYPTED PRIVATE KEY"
        let new = "-----BEGIN \(label)-----\nMIIB\n-----END \(label)-----\n"
        let old = """
            -----BEGIN RSA PRIVATE KEY-----
            Proc-Type: 4,ENCRYPTED
            DEK-Info: AES-256-CBC,00

            MIIB
            -----END RSA PRIVATE KEY-----
            """
        for text in [new, old] {
            let found = try self.problem(chain: chain, key: self.file("key.pem", text))
            #expect(found?.problem == .encryptedKey)
        }
    }

    @Test
    func `a certificate that has expired, or is not valid yet, is refused`() throws {
        for (age, isOver) in [(-900.0, true), (900.0, false)] {
            let made = try ServerCertificates.make(
                hosts: [],
                now: self.now.addingTimeInterval(age * 86_400)
            )
            let found = try self.problem(
                chain: self.file("chain.pem", made.chainPEM),
                key: self.file("key.pem", made.keyPEM)
            )
            switch found?.problem {
            case .expired: #expect(isOver)
            case .notYetValid: #expect(!isOver)
            default: Issue.record("\(String(describing: found))")
            }
        }
    }
}
