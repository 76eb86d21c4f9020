import Foundation
import RecordServer
import SystemCrypto
import TestSupport
import Testing

/// The real server with CloudKit Web Services, a container, two users and a service.
struct WebServer {
    static let container = "iCloud.org.example.web"

    let process: ServerProcess
    let webPort: Int
    /// A user's access token.
    let alice: String
    let service: ServiceKeyPair

    static func run(_ listen: String? = nil, _ body: (WebServer) async throws -> Void) async throws {
        let port = FreePort.take()
        let process = try ServerProcess(
            settings: ["--web-listen", listen ?? "http://127.0.0.1:\(port)", "--log-level", "warning"]
        )
        try await process.start()
        do {
            let service = ServiceKeyPair()
            try await process.administer(["container", "create", Self.container])
            let alice = try await process.administer(["user", "add", "alice", "--container", Self.container])
            let pem = process.folder.path + "/service.pub"
            let key = P256PrivateKey(pem: service.privatePEM ?? "")
            let der = Data(try #require(key).publicKey.der).base64EncodedString()
            try "-----BEGIN PUBLIC KEY-----\n\(der)\n-----END PUBLIC KEY-----\n"
                .write(toFile: pem, atomically: true, encoding: .utf8)
            try await process.administer([
                "key", "add", "shop", "--container", Self.container, "--public-key", pem,
                "--on-behalf-of", "alice",
            ])
            try await body(WebServer(process: process, webPort: port, alice: alice, service: service))
        } catch {
            await process.end(SIGKILL)
            throw error
        }
        #expect(await process.end(SIGTERM) == 0)
        #expect(!process.log().contains("crash") && !process.log().contains("Fatal"), "\(process.log())")
    }

    // MARK: Requests

    enum Sender {
        case nobody
        case user
        case service
        case serviceForAlice
    }

    static func path(_ endpoint: String, in scope: String) -> String {
        "/database/1/\(Self.container)/development/\(scope)/\(endpoint)"
    }

    /// The bytes of a request.
    func request(
        _ endpoint: String,
        in scope: String,
        _ body: String,
        as sender: Sender,
        date: Date = Date()
    ) throws -> String {
        var target = Self.path(endpoint, in: scope)
        if case .serviceForAlice = sender { target += "?onBehalfOf=alice" }
        var fields: [String] = []
        switch sender {
        case .nobody: break
        case .user: fields = ["Authorization: Bearer \(self.alice)"]
        case .service, .serviceForAlice:
            fields = try self.signature(of: target, body: body, date: date)
        }
        return "POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n"
            + fields.map { $0 + "\r\n" }.joined() + "\r\n" + body
    }

    /// The fields of a signed request.
    func signature(of target: String, body: String, date: Date = Date()) throws -> [String] {
        let text = date.formatted(.iso8601)
        let hash = Data(SHA256.hash(body)).base64EncodedString()
        let key = try #require(P256PrivateKey(pem: self.service.privatePEM ?? ""))
        let raw = try key.signature(of: Array("\(text):\(hash):\(target)".utf8))
        return [
            "X-Apple-CloudKit-Request-KeyID: \(self.service.keyID)",
            "X-Apple-CloudKit-Request-ISO8601Date: \(text)",
            "X-Apple-CloudKit-Request-SignatureV1: \(Data(Self.der(raw)).base64EncodedString())",
        ]
    }

    /// DER of the two numbers of a signature.
    static func der(_ raw: [UInt8]) -> [UInt8] {
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var bytes = Array(bytes.drop { $0 == 0 })
            if (bytes.first ?? 0x80) >= 0x80 { bytes.insert(0, at: 0) }
            return [0x02, UInt8(bytes.count)] + bytes
        }
        let numbers = integer(raw[..<32]) + integer(raw[32...])
        return [0x30, UInt8(numbers.count)] + numbers
    }

    /// Sends a request on a connection of its own.
    func send(
        _ endpoint: String,
        in scope: String,
        _ body: String = "{}",
        as sender: Sender
    ) async throws -> HTTPReply {
        let peer = HTTPPeer(port: self.webPort)
        peer.send(try self.request(endpoint, in: scope, body, as: sender))
        return try #require(await peer.receive(), "\(endpoint): \(self.process.log())")
    }

    /// The operations of one request of `records/modify`.
    func modify(
        _ operations: [String],
        in scope: String = "public",
        zone: String? = nil,
        _ others: String = "",
        as sender: Sender = .service
    ) async throws -> [JSONValue] {
        let zone = zone.map { ",\"zoneID\":{\"zoneName\":\"\($0)\"}" } ?? ""
        let reply = try await self.send(
            "records/modify",
            in: scope,
            "{\"operations\":[\(operations.joined(separator: ","))]\(zone)\(others)}",
            as: sender
        )
        #expect(reply.status == 200, "\(reply.text)")
        return reply.json["records"].array
    }

    static func operation(
        _ kind: String,
        _ name: String,
        tag: String? = nil,
        _ fields: String = "{}",
        type: String = "Note"
    ) -> String {
        let tag = tag.map { "\"recordChangeTag\":\"\($0)\"," } ?? ""
        return "{\"operationType\":\"\(kind)\",\"record\":{\"recordName\":\"\(name)\",\(tag)"
            + "\"recordType\":\"\(type)\",\"fields\":\(fields)}}"
    }
}
