import PostgreSQLCluster
import TestSupport
import Testing

@testable import PostgreSQLEngine

/// Connections over a network, with TLS and without.
///
/// Addresses of the loopback network other than 127.0.0.1 count as other machines.
@Suite(.timeLimit(.minutes(10)))
struct DatabaseTLSTests {
    private static let elsewhere = "127.0.0.2"

    private static func failure(_ url: String) throws -> PostgreSQLEngineError? {
        let target = try ConnectionTarget(url)
        do throws(PostgreSQLEngineError) {
            try PostgreSQLEngine.prepare(target)
            return nil
        } catch {
            return error
        }
    }

    private static func options() -> PostgreSQLInstance.Options {
        var options = PostgreSQLInstance.Options()
        options.address = "127.0.0.1,\(self.elsewhere)"
        return options
    }

    @Test
    func `a server elsewhere without TLS is refused, unless the URL says that plain text will do`() throws {
        let instance = try PostgreSQLInstance(Self.options())
        let text = "postgres on \(Self.elsewhere):\(instance.port)"
        #expect(try Self.failure(instance.url(host: Self.elsewhere)) == .tlsMissing(target: text))
        let verified = instance.url(host: Self.elsewhere, "?sslmode=verify-full&sslrootcert=/dev/null")
        switch try Self.failure(verified) {
        case .tlsMissing?, .tlsUntrusted?: break
        case let other: Issue.record("\(String(describing: other))")
        }
        for mode in ["disable", "prefer"] {
            let url = instance.url(host: Self.elsewhere, "?sslmode=\(mode)")
            #expect(try Self.failure(url) == nil, "\(mode)")
            #expect(try ConnectionTarget(url).isUnverified)
        }
        // Nobody is in between.
        #expect(try Self.failure(instance.url(host: "127.0.0.1")) == nil)
    }

    @Test
    func `with verify-full the server has to have a certificate of its host by the named authority`() throws {
        let directory = try TemporaryDirectory()
        var options = Self.options()
        options.settings = ["ssl=on", "ssl_cert_file=server.pem", "ssl_key_file=server.key"]
        let instance = try PostgreSQLInstance(options) { data in
            try Self.makeCertificates(in: directory.path, data: data)
        }
        func url(_ host: String, _ parameters: String) -> String { instance.url(host: host, parameters) }
        let trusted = "?sslmode=verify-full&sslrootcert=\(directory.path)/ca.pem"
        #expect(try Self.failure(url(Self.elsewhere, trusted)) == nil)
        #expect(try ConnectionTarget(url(Self.elsewhere, trusted)).isUnverified == false)
        // Without a mode TLS is used, and nobody is asked for proof: there is a warning of that.
        #expect(try Self.failure(url(Self.elsewhere, "")) == nil)
        #expect(try ConnectionTarget(url(Self.elsewhere, "")).isUnverified)
        for (host, parameters) in [
            // The certificate is of another address.
            ("127.0.0.1", trusted),
            (Self.elsewhere, "?sslmode=verify-full&sslrootcert=\(directory.path)/other.pem"),
            (Self.elsewhere, "?sslmode=verify-full&sslrootcert=\(directory.path)/none.pem"),
        ] {
            guard case .tlsUntrusted(_, let reason)? = try Self.failure(url(host, parameters)) else {
                Issue.record("trusted \(host) \(parameters)")
                continue
            }
            #expect(!reason.isEmpty)
        }
    }

    /// Two authorities, and a certificate of the first for the address elsewhere.
    private static func makeCertificates(in folder: String, data: String) throws {
        let key = "openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        let names = "subjectAltName=IP:\(self.elsewhere)"
        for command in [
            "\(key) -x509 -days 2 -subj /CN=ca -keyout \(folder)/ca.key -out \(folder)/ca.pem",
            "\(key) -x509 -days 2 -subj /CN=other -keyout \(folder)/other.key -out \(folder)/other.pem",
            "\(key) -subj /CN=db -addext \(names) -keyout \(data)/server.key -out \(folder)/server.csr",
            """
            openssl x509 -req -days 2 -in \(folder)/server.csr -CA \(folder)/ca.pem -CAkey \(folder)/ca.key \
            -copy_extensions copy -out \(data)/server.pem
            """,
            "chmod 600 \(data)/server.key; chown --reference=\(data) \(data)/server.key \(data)/server.pem",
        ] {
            try PostgreSQLInstance.shell(command)
        }
    }
}
