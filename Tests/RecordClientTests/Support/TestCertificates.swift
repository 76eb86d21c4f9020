import Foundation
import TestSupport

/// A certificate authority and a server certificate for 127.0.0.1 and localhost, made by the
/// `openssl` tool in a folder that is removed with this value.
final class TestCertificates {
    struct ToolFailed: Error { var arguments: [String] }

    let folder: URL
    var authority: String { self.path("ca.pem") }
    var certificate: String { self.path("server.pem") }
    var key: String { self.path("server.key") }

    init(names: String = "IP:127.0.0.1,DNS:localhost") async throws {
        self.folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        try Data("subjectAltName=\(names)\n".utf8).write(to: self.folder.appendingPathComponent("names"))
        try await Self.openssl(
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=Test CA",
            "-keyout",
            self.path("ca.key"),
            "-out",
            self.authority
        )
        try await Self.openssl(
            "req",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-subj",
            "/CN=server",
            "-keyout",
            self.key,
            "-out",
            self.path("server.csr")
        )
        try await Self.openssl(
            "x509",
            "-req",
            "-days",
            "2",
            "-CAcreateserial",
            "-CA",
            self.authority,
            "-CAkey",
            self.path("ca.key"),
            "-in",
            self.path("server.csr"),
            "-extfile",
            self.path("names"),
            "-out",
            self.certificate
        )
    }

    deinit {
        try? FileManager.default.removeItem(at: self.folder)
    }

    private func path(_ name: String) -> String {
        self.folder.appendingPathComponent(name).path
    }

    private static func openssl(_ arguments: String...) async throws {
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["openssl"] + arguments
        )
        guard outcome.exitCode == 0 else { throw ToolFailed(arguments: arguments) }
    }
}
