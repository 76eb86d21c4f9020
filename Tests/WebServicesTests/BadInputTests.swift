import Foundation
import TestSupport
import Testing

/// What no honest client sends: a typed error each, and the server goes on.
@Suite(.timeLimit(.minutes(5)))
struct BadInputTests {
    private static let path = WebServer.path("records/query", in: "public")

    /// A request with a head, and its bytes as they are.
    private static func raw(_ fields: [String], _ body: String = "", target: String = path) -> String {
        (["POST \(target) HTTP/1.1", "Host: localhost"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
            + body
    }

    private static let badBodies: [String] = [
        "not JSON", "[]", "7", "{", #"{"query":}"#, #"{"a":1,"a":2}"#, "\u{FEFF}{}",
        String(repeating: "[", count: 40), #"{"query":"\ud800"}"#, "{} {}", #"{"query":{}}"#,
        #"{"query":{"recordType":7}}"#, #"{"zoneID":{},"query":{"recordType":"A"}}"#,
        #"{"query":{"recordType":"A"},"resultsLimit":0}"#,
        #"{"query":{"recordType":"A"},"resultsLimit":1e9}"#,
        #"{"continuationMarker":"?"}"#, #"{"query":{"recordType":"A"},"desiredKeys":"a"}"#,
    ]

    private static let badRequests: [(String, String, Int)] = [
        ("two lengths", raw(["Content-Length: 2", "Content-Length: 3"], "{}"), 400),
        (
            "length and coding",
            raw(["Content-Length: 2", "Transfer-Encoding: chunked"], "2\r\n{}\r\n0\r\n\r\n"), 400
        ),
        (
            "coding and length",
            raw(["Transfer-Encoding: chunked", "Content-Length: 2"], "2\r\n{}\r\n0\r\n\r\n"), 400
        ),
        ("negative length", raw(["Content-Length: -1"]), 400),
        ("length with a sign", raw(["Content-Length: +2"], "{}"), 400),
        ("folded field", raw(["X: a\r\n b", "Content-Length: 2"], "{}"), 400),
        ("bare CR", raw(["X: a\rb", "Content-Length: 2"], "{}"), 400),
        ("a space before the colon", raw(["Content-Length : 2"], "{}"), 400),
        ("a chunk without a size", raw(["Transfer-Encoding: chunked"], "zz\r\n{}\r\n"), 400),
        ("another coding", raw(["Transfer-Encoding: gzip"], "{}"), 400),
        ("compressed", raw(["Content-Encoding: gzip", "Content-Length: 2"], "{}"), 415),
        ("two hosts", raw(["Host: b", "Content-Length: 2"], "{}"), 400),
        ("too long", raw(["Content-Length: 600000"]), 413),
        ("far too long", raw(["Content-Length: 99999999999999999999"]), 400),
        ("not HTTP", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}", 400),
        ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        ("large field", raw(["X: " + String(repeating: "x", count: 20_000)]), 431),
        ("many fields", raw((0..<200).map { "X-\($0): a" }), 431),
        ("long target", raw([], target: "/" + String(repeating: "x", count: 20_000)), 431),
        ("no path", raw(["Content-Length: 0"], target: "*"), 404),
        ("dots", raw(["Content-Length: 0"], target: path + "/.."), 404),
        ("NUL", raw(["Content-Length: 0"], target: path + "%00"), 404),
        ("another method", "BREW \(path) HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        ("OPTIONS", "OPTIONS \(path) HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        ("GET", "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        (
            "a missing endpoint",
            raw(["Content-Length: 2"], "{}", target: WebServer.path("assets/upload", in: "public")), 404
        ),
        (
            "a container that there cannot be",
            raw(
                ["Content-Length: 2"],
                "{}",
                target: "/database/1/\(String(repeating: "c", count: 4_096))/development/public/records/query"
            ), 403
        ),
    ]

    @Test
    func `bad bodies and heads get a typed error each`() async throws {
        try await WebServer.run { server in
            for body in Self.badBodies {
                let reply = try await server.send("records/query", in: "public", body, as: .nobody)
                #expect(
                    reply.status == 400 && reply.code == "BAD_REQUEST",
                    "\(body.prefix(40)): \(reply.text)"
                )
                #expect(UUID(uuidString: reply.json["uuid"].string) != nil)
                #expect(reply.fields["x-apple-request-uuid"] == reply.json["uuid"].string)
            }
            for (name, request, status) in Self.badRequests {
                let peer = HTTPPeer(port: server.webPort)
                peer.send(request)
                let reply = await peer.receive()
                #expect(reply?.status == status, "\(name): \(reply?.text ?? "closed")")
                #expect(reply?.code.isEmpty == false, "\(name)")
                #expect(reply?.fields["cache-control"] == "no-store", "\(name)")
            }
            try await self.checkConnections(server)
            let good = try await server.send("zones/list", in: "public", as: .nobody)
            #expect(good.status == 200)
        }
    }

    /// Requests behind each other, in pieces, and without an end.
    private func checkConnections(_ server: WebServer) async throws {
        let good = try server.request("zones/list", in: "public", "{}", as: .nobody)
        let pipelined = HTTPPeer(port: server.webPort)
        pipelined.send(String(repeating: good, count: 20))
        for _ in 0..<20 { #expect(await pipelined.receive()?.status == 200) }
        // What came before an error is answered first. The error may end the connection without a word.
        let broken = HTTPPeer(port: server.webPort)
        broken.send(good + "nonsense\r\n\r\n")
        #expect(await broken.receive()?.status == 200)
        let last = await broken.receive()
        #expect(last == nil || last?.status == 400)
        #expect(await broken.ends())
        let slow = HTTPPeer(port: server.webPort)
        for byte in good.utf8 { slow.send([byte]) }
        #expect(await slow.receive()?.status == 200)
        // An early response ends the connection, whatever is still sent.
        let long = HTTPPeer(port: server.webPort)
        long.send(Self.raw(["Transfer-Encoding: chunked"]))
        for _ in 0..<40 { long.send("4000\r\n" + String(repeating: " ", count: 0x4000) + "\r\n") }
        let refused = await long.receive()
        #expect(refused?.status == 413 && refused?.fields["connection"] == "close")
        #expect(await long.ends())
        let old = HTTPPeer(port: server.webPort)
        old.send("GET \(WebServer.path("zones/list", in: "public")) HTTP/1.0\r\n\r\n")
        #expect(await old.receive()?.status == 200)
        #expect(await old.ends())
        let head = HTTPPeer(port: server.webPort)
        head.send("HEAD \(WebServer.path("zones/list", in: "public")) HTTP/1.1\r\nHost: a\r\n\r\n")
        let answer = await head.receive(hasBody: false)
        #expect(answer?.status == 405 && answer?.fields["allow"] == "GET, POST")
        // A request that breaks off leaves nothing behind.
        for _ in 0..<20 { HTTPPeer(port: server.webPort).send(String(good.dropLast(1))) }
    }

    @Test
    func `random damage to a request is answered or refused, and the server goes on`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        try await WebServer.run { server in
            let operation = WebServer.operation(
                "forceUpdate",
                "r",
                #"{"a":{"value":[1,2],"type":"INT64_LIST"}}"#
            )
            let good = try server.request(
                "records/modify",
                in: "private",
                #"{"operations":[\#(operation)],"zoneID":{"zoneName":"_defaultZone"}}"#,
                as: .user
            )
            for _ in 0..<400 {
                var bytes = Array(good.utf8)
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let offset = Int.random(in: bytes.indices, using: &generator)
                    switch Int.random(in: 0..<3, using: &generator) {
                    case 0: bytes[offset] = UInt8.random(in: .min ... .max, using: &generator)
                    case 1: bytes.remove(at: offset)
                    default: bytes.insert(UInt8.random(in: .min ... .max, using: &generator), at: offset)
                    }
                }
                let peer = HTTPPeer(port: server.webPort)
                // An end, so that a request that lacks bytes is not waited for.
                peer.send(bytes + Array("\r\n\r\n\r\n\r\n".utf8))
                peer.endSending()
                if let reply = await peer.receive() {
                    #expect(
                        reply.status == 200 || !reply.code.isEmpty,
                        "\(String(decoding: bytes, as: UTF8.self))"
                    )
                }
            }
            let reply = try await server.send("zones/list", in: "private", as: .user)
            #expect(reply.status == 200)
        }
    }
}
