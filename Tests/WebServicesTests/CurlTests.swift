import Foundation
import RecordServer
import TestSupport
import Testing

/// Programs that others wrote: curl over TLS, and Apple's recipe for signatures with OpenSSL's program.
@Suite(.timeLimit(.minutes(5)))
struct CurlTests {
    private static let shell = URL(fileURLWithPath: "/bin/bash")

    private func curl(_ server: WebServer, _ script: String, url: String) async throws -> String {
        let outcome = try await ChildProcess.run(
            Self.shell,
            ["-c", "set -euo pipefail\n" + script],
            environment: [
                "CA": server.process.authorityPath, "URL": url, "TOKEN": server.alice,
                "KEY_ID": server.service.keyID, "WORK": server.process.folder.path,
                "DATABASE": "/database/1/\(WebServer.container)/development",
            ]
        )
        #expect(outcome.exitCode == 0, "\(outcome.output)\n\(outcome.errors)")
        return outcome.output
    }

    @Test
    func `curl speaks TLS, and signs as Apple's page says`() async throws {
        let port = FreePort.take()
        try await WebServer.run("localhost:\(port)") { server in
            try (server.service.privatePEM ?? "").write(
                toFile: server.process.folder.path + "/key.pem",
                atomically: true,
                encoding: .utf8
            )
            let url = "https://localhost:\(port)"
            let list = try await self.curl(
                server,
                #"curl -sS --fail --cacert "$CA" -H "Authorization: Bearer $TOKEN" "$URL$DATABASE/private/zones/list""#,
                url: url
            )
            #expect(JSONValue.parse(Array(list.utf8))["zones"].array.count == 1, "\(list)")
            let saved = try await self.curl(server, Self.signedSave, url: url)
            let record = JSONValue.parse(Array(saved.utf8))["records"][0]
            #expect(record["fields"]["text"]["value"].string.utf8.count == 200_000, "\(saved.prefix(1_000))")
            // TLS bytes alone reach this listener, and HTTP/2 is not offered.
            let protocols = try await self.curl(
                server,
                #"curl -sS --cacert "$CA" --http2 -o /dev/null -w '%{http_version} %{ssl_verify_result}' "$URL/""#,
                url: url
            )
            #expect(protocols == "1.1 0")
            let plain = HTTPPeer(port: port)
            plain.send(try server.request("zones/list", in: "public", "{}", as: .nobody))
            #expect(await plain.receive() == nil)
        }
    }

    /// A body for which curl asks with `Expect: 100-continue`.
    private static let signedSave = #"""
        text=$(head -c 200000 /dev/zero | tr '\0' x)
        printf '{"operations":[{"operationType":"create","record":{"recordName":"big","recordType":"Note",' > "$WORK/body"
        printf '"fields":{"text":{"value":"%s"}}}}]}' "$text" >> "$WORK/body"
        date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
        path=$DATABASE/public/records/modify
        hash=$(openssl dgst -sha256 -binary "$WORK/body" | base64 -w0)
        signature=$(printf '%s:%s:%s' "$date" "$hash" "$path" |
            openssl dgst -sha256 -sign "$WORK/key.pem" | base64 -w0)
        curl -sS --fail --cacert "$CA" --data-binary "@$WORK/body" -H 'Expect: 100-continue' \
            -H "X-Apple-CloudKit-Request-KeyID: $KEY_ID" \
            -H "X-Apple-CloudKit-Request-ISO8601Date: $date" \
            -H "X-Apple-CloudKit-Request-SignatureV1: $signature" "$URL$path"
        """#

    @Test
    func `a Unix socket is served, and its file goes with the server`() async throws {
        let folder = try TemporaryDirectory()
        let socket = folder.path + "/web.sock"
        try await WebServer.run("unix:\(socket)") { server in
            let list = try await self.curl(
                server,
                #"curl -sS --fail --unix-socket "$URL" "http://localhost$DATABASE/public/zones/list""#,
                url: socket
            )
            #expect(list.contains("_defaultZone"), "\(list)")
        }
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test(
        arguments: [
            ("http://0.0.0.0:8080", "without TLS"), ("http://example.org:80", "without TLS"),
            ("unix:web.sock", "begins with /"), ("example.org", "HOST:PORT"), ("", "HOST:PORT"),
        ]
    )
    func `other addresses are refused`(address: String, reason: String) async throws {
        let folder = try TemporaryDirectory()
        let outcome = try await ChildProcess.tidemark(
            "serve",
            "--data",
            folder.path + "/data",
            "--listen",
            "127.0.0.1:0",
            "--web-listen",
            address
        )
        #expect(outcome.exitCode == 64)
        #expect(outcome.errors.contains("web_listen") && outcome.errors.contains(reason), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/data"))
    }
}
