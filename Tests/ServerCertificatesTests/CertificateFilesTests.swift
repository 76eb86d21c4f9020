import Foundation
import ServerCertificates
import SwiftASN1
import Testing
import X509

@Suite
struct CertificateFilesTests {
    private static let day: TimeInterval = 86_400
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "tidemark-certificates-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private func permissions(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? NSNumber).intValue
    }

    @Test
    func `a certificate is signed by its authority and names every host`() throws {
        let made = try ServerCertificates.make(
            hosts: ["db.example.org", "10.1.2.3", "fd00::7"],
            now: self.now
        )
        let authority = try Certificate(pemEncoded: made.authorityPEM)
        let server = try Certificate(pemEncoded: made.chainPEM)
        #expect(authority.publicKey.isValidSignature(server.signature, for: server))
        #expect(server.issuer == authority.subject)
        #expect(try Certificate.PrivateKey(pemEncoded: made.keyPEM).publicKey == server.publicKey)
        let names = try #require(try server.extensions.subjectAlternativeNames)
        let expected: [GeneralName] = [
            .dnsName("localhost"), .dnsName("db.example.org"),
            .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])),
            .ipAddress(ASN1OctetString(contentBytes: [10, 1, 2, 3])),
            .ipAddress(ASN1OctetString(contentBytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])),
            .ipAddress(ASN1OctetString(contentBytes: [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7])),
        ]
        for name in expected { #expect(names.contains(name), "\(name)") }
    }

    @Test
    func `the authority may sign servers and the server nothing`() throws {
        let made = try ServerCertificates.make(hosts: [], now: self.now)
        let authority = try Certificate(pemEncoded: made.authorityPEM)
        let server = try Certificate(pemEncoded: made.chainPEM)
        #expect(try authority.extensions.basicConstraints == .isCertificateAuthority(maxPathLength: 0))
        #expect(try server.extensions.basicConstraints == .notCertificateAuthority)
        #expect(try server.extensions.extendedKeyUsage?.contains(.serverAuth) == true)
        #expect(try server.extensions.extendedKeyUsage?.count == 1)
    }

    @Test
    func `validity is ten years and 825 days`() throws {
        let made = try ServerCertificates.make(hosts: [], now: self.now)
        let authority = try Certificate(pemEncoded: made.authorityPEM)
        let server = try Certificate(pemEncoded: made.chainPEM)
        #expect(authority.notValidAfter.timeIntervalSince(authority.notValidBefore) == 3_650 * Self.day)
        #expect(server.notValidAfter.timeIntervalSince(server.notValidBefore) == 825 * Self.day)
        #expect(server.notValidBefore == self.now.addingTimeInterval(-3_600))
    }

    @Test
    func `wildcard addresses and broken names are left out`() throws {
        let made = try ServerCertificates.make(
            hosts: ["0.0.0.0", "::", "a..b", "", "ü.example"],
            now: self.now
        )
        let plain = try ServerCertificates.make(hosts: [], now: self.now)
        let names = try Certificate(pemEncoded: made.chainPEM).extensions.subjectAlternativeNames
        #expect(try names == Certificate(pemEncoded: plain.chainPEM).extensions.subjectAlternativeNames)
    }

    @Test
    func `first start makes files that only their owner reads`() throws {
        try self.withFolder { folder in
            let files = try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now)
            #expect(files.event == .made)
            #expect(files.authorityPath == folder + "/tls/ca.pem")
            #expect(try self.permissions(folder + "/tls") == 0o700)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/tls").sorted()
            #expect(names == ["ca-key.pem", "ca.pem", "server-key.pem", "server.pem"])
            for name in names { #expect(try self.permissions("\(folder)/tls/\(name)") == 0o600, "\(name)") }
        }
    }

    @Test
    func `a later start reuses what is there`() throws {
        try self.withFolder { folder in
            let first = try CertificateFiles.loadOrMake(
                directory: folder,
                hosts: ["a.example"],
                now: self.now
            )
            let second = try CertificateFiles.loadOrMake(
                directory: folder,
                hosts: ["a.example"],
                now: self.now
            )
            #expect(second.event == .reused)
            #expect(second.chainPEM == first.chainPEM)
            #expect(second.keyPEM == first.keyPEM)
        }
    }

    @Test(arguments: [(794.9, CertificateFiles.Event.reused), (795.1, .reissued(.expires))])
    func `a certificate is issued anew when fewer than 30 days are left`(
        days: Double,
        event: CertificateFiles.Event
    ) throws {
        try self.withFolder { folder in
            _ = try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now)
            let authority = try String(contentsOfFile: folder + "/tls/ca.pem", encoding: .utf8)
            let later = self.now.addingTimeInterval(-3_600 + days * Self.day)
            let files = try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: later)
            #expect(files.event == event)
            #expect(try String(contentsOfFile: folder + "/tls/ca.pem", encoding: .utf8) == authority)
        }
    }

    @Test
    func `a new listen host gets a certificate of the same authority`() throws {
        try self.withFolder { folder in
            _ = try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now)
            let authority = try Certificate(
                pemEncoded: String(contentsOfFile: folder + "/tls/ca.pem", encoding: .utf8)
            )
            let files = try CertificateFiles.loadOrMake(
                directory: folder,
                hosts: ["b.example"],
                now: self.now
            )
            #expect(files.event == .reissued(.hostMissing))
            let server = try Certificate(pemEncoded: files.chainPEM)
            #expect(authority.publicKey.isValidSignature(server.signature, for: server))
            #expect(try server.extensions.subjectAlternativeNames?.contains(.dnsName("b.example")) == true)
        }
    }

    @Test
    func `two hosts in turn need one new certificate, which has both`() throws {
        try self.withFolder { folder in
            func event(_ hosts: String...) throws -> CertificateFiles.Event {
                try CertificateFiles.loadOrMake(directory: folder, hosts: hosts, now: self.now).event
            }
            let events = [
                try event("a.example", "10.1.2.3", "fd00::7"), try event("b.example"),
                try event("a.example", "10.1.2.3"), try event("b.example", "fd00::7"),
            ]
            #expect(events == [.made, .reissued(.hostMissing), .reused, .reused])
        }
    }

    @Test(arguments: ["server.pem", "server-key.pem"])
    func `a missing or foreign half of the pair is mended`(name: String) throws {
        try self.withFolder { folder in
            _ = try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now)
            let path = folder + "/tls/" + name
            try FileManager.default.removeItem(atPath: path)
            let mended = try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now)
            #expect(mended.event == .reissued(.unusable))
            let foreign = try ServerCertificates.make(hosts: [], now: self.now)
            let text = name == "server.pem" ? foreign.chainPEM : foreign.keyPEM
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let again = try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now)
            #expect(again.event == .reissued(.unusable))
        }
    }

    @Test
    func `the authority is never replaced silently`() throws {
        try self.withFolder { folder in
            _ = try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now)
            let path = folder + "/tls/ca.pem"
            try "no certificate".write(toFile: path, atomically: true, encoding: .utf8)
            #expect(throws: CertificateFilesError.authorityUnreadable(path: path)) {
                try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now)
            }
            try FileManager.default.removeItem(atPath: path)
            #expect(throws: CertificateFilesError.authorityMissing(path: path)) {
                try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now)
            }
        }
    }

    @Test
    func `a first start that crashed half way is taken up`() throws {
        try self.withFolder { folder in
            _ = try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now)
            for name in ["ca.pem", "server.pem", "server-key.pem"] {
                try FileManager.default.removeItem(atPath: "\(folder)/tls/\(name)")
            }
            #expect(
                try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now).event == .made
            )
        }
    }

    @Test
    func `the authority's key is needed only to issue`() throws {
        try self.withFolder { folder in
            _ = try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now)
            let path = folder + "/tls/ca-key.pem"
            try FileManager.default.removeItem(atPath: path)
            let files = try CertificateFiles.loadOrMake(directory: folder, hosts: [], now: self.now)
            #expect(files.event == .reused)
            #expect(throws: CertificateFilesError.authorityKeyMissing(path: path)) {
                try CertificateFiles.loadOrMake(directory: folder, hosts: ["c.example"], now: self.now)
            }
        }
    }
}
