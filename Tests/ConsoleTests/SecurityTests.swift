import RecordModel
import TestSupport
import Testing

@testable import Console

/// Checks that keep other pages, names and users of the machine out, request by request.
@Suite(.timeLimit(.minutes(10)))
struct SecurityTests {
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'"

    @Test
    func `the link opens a session once`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.running { client, link in
            var browser = client
            let opened = try await browser.open(link)
            #expect(opened.status == 200)
            #expect(opened.fields["refresh"] == "0; url=/")
            let cookie = try #require(opened.fields["set-cookie"])
            #expect(cookie.hasSuffix("; HttpOnly; SameSite=Strict; Path=/"))
            #expect(try await browser.get("/").status == 200)
            var second = client
            #expect(try await second.open(link).status == 401)
            #expect(second.cookie == nil)
        }
        await scene.shutdown()
    }

    @Test(
        arguments: ConsoleRoutes.pages.map(\.path) + [
            "/c/:container/:environment/changes/events", "/c/:container/:environment/asset",
            "/c/:container/:environment/value", "/c/:container/:environment/schema.ckdb",
        ]
    )
    func `every page needs the session`(path: String) async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.running { client, link in
            let path = path.replacing(":container", with: ConsoleScene.container)
                .replacing(":environment", with: "development")
            let without = try await client.get(path)
            #expect(without.status == 401)
            #expect(!without.body.contains(scene.folder.path))
            var other = client
            other.cookie = "\(SessionCookie.name)=\(Secret.make())"
            #expect(try await other.get(path).status == 401)
        }
        await scene.shutdown()
    }

    @Test(
        arguments: [
            "evil.example", "127.0.0.1", "127.0.0.1:PORT", "localhost:PORT", "other.localhost:PORT",
            "[::1]:PORT", "NAME:1", "NAME.evil.example:PORT", "x.NAME:PORT", "127.0.0.1.nip.io:80",
        ]
    )
    func `another name gets nothing, with or without the session`(host: String) async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.browsing { client in
            var other = client
            let own = client.host.split(separator: ":")
            other.host = host.replacing("NAME", with: own[0]).replacing("PORT", with: own[1])
            for path in ["/", "/open/x", ConsoleFile.style.path] {
                let response = try await other.get(path)
                #expect(response.status == 421, "\(path)")
                #expect(!response.body.contains("method=\"post\""))
            }
        }
        await scene.shutdown()
    }

    @Test
    func `every response has the fields that bind the browser`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.browsing { client in
            var stranger = client
            stranger.cookie = nil
            var renamed = client
            renamed.host = "evil.example:80"
            let responses = [
                try await client.get("/"), try await client.get("/nowhere"), try await stranger.get("/"),
                try await renamed.get("/"), try await client.get(ConsoleScene.place + "/schema.ckdb"),
                try await client.get(ConsoleScene.place + "/records?type=None"),
                try await client.get("/c/None/development"), try await client.post("/leave", ""),
                try await client.send("PUT", "/", [:], body: ""),
            ]
            #expect(responses.map(\.status) == [200, 404, 401, 421, 200, 200, 404, 403, 403])
            for response in responses {
                #expect(response.fields["content-security-policy"] == Self.policy)
                #expect(response.fields["x-content-type-options"] == "nosniff")
                #expect(response.fields["referrer-policy"] == "same-origin")
                #expect(response.fields["cross-origin-opener-policy"] == "same-origin")
                #expect(response.fields["cross-origin-resource-policy"] == "same-origin")
                #expect(response.fields["cache-control"] == "no-store")
                #expect(response.fields["access-control-allow-origin"] == nil)
            }
        }
        await scene.shutdown()
    }

    @Test
    func `files of the program are kept, under names that change with them`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.running { client, _ in
            for file in [ConsoleFile.style, ConsoleFile.script] {
                let response = try await client.get(file.path)
                #expect(response.status == 200)
                #expect(response.bytes == file.bytes)
                #expect(response.fields["content-type"] == file.contentType)
                #expect(response.fields["cache-control"] == "private, max-age=31536000, immutable")
                #expect(response.fields["content-security-policy"] == Self.policy)
            }
            #expect(try await client.get("/files/console.css").status == 404)
            #expect(try await client.get("/files/..%2f..%2fetc%2fpasswd").status == 404)
        }
        await scene.shutdown()
    }

    // MARK: Changes

    /// The parts that a form has to be sent with, and the answer without each.
    @Test
    func `a change needs the origin, the site, the session and the secret of the form`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.browsing { client in
            let secret = try #require(
                try await client.get("/").body.firstMatch(of: /name="secret" value="(\w+)"/)
            )
            let form = "secret=\(secret.1)"
            let origin = "http://\(client.host)"
            let bad: [(String, [String: String])] = [
                (form, ["Origin": "http://evil.example"]), (form, ["Origin": ""]),
                (form, ["Origin": "null"]), (form, ["Sec-Fetch-Site": ""]),
                (form, ["Sec-Fetch-Site": "cross-site"]), (form, ["Sec-Fetch-Site": "same-site"]),
                ("", [:]), ("secret=", [:]), ("secret=\(Secret.make())", [:]),
                (form, ["Origin": origin + "/"]),
            ]
            for (form, fields) in bad {
                #expect(try await client.post("/link", form, fields).status == 403, "\(form) \(fields)")
            }
            var stranger = client
            stranger.cookie = nil
            #expect(try await stranger.post("/link", form).status == 401)
            // A page that is read changes nothing.
            #expect(try await client.get("/link?\(form)").status == 404)
            #expect(try await client.get("/leave?\(form)").status == 404)
            let link = try await client.post("/link", form)
            #expect(link.status == 200)
            var other = client
            other.cookie = nil
            let path = try #require(link.body.firstMatch(of: /\/open\/\w+/))
            #expect(try await other.open(String(path.0)).status == 200)
            #expect(try await client.post("/leave", form).status == 200)
            #expect(try await client.get("/").status == 401)
            #expect(try await other.get("/").status == 200)
        }
        await scene.shutdown()
    }

    @Test
    func `a form or a request that is too large is refused`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.browsing { client in
            let large = "secret=" + String(repeating: "a", count: 5 * 1_024 * 1_024)
            #expect(try await client.post("/link", large).status == 413)
            let long = try await client.get("/?" + String(repeating: "a", count: 100_000))
            #expect(![200, 500].contains(long.status))
            #expect(try await client.get("/").status == 200)
        }
        await scene.shutdown()
    }

    @Test
    func `ten wrong guesses at the link end the console`() async throws {
        let scene = try ConsoleScene.withAlice()
        let end = try await scene.running { client, link in
            for _ in 0..<10 { #expect(try await client.get("/open/" + Secret.make()).status == 401) }
            // The console ends by itself, and this task with it.
            try await Task.sleep(for: .seconds(50))
            Issue.record("the console goes on")
        }
        #expect(end == .guessed)
        await scene.shutdown()
    }

    /// A page of another site knows no name of the console, and its pictures are no guesses.
    @Test
    func `pictures that lead to a link count as no guess`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.running { client, link in
            var foreign = client
            foreign.host = "127.0.0.1:\(client.host.split(separator: ":")[1])"
            for _ in 0..<12 {
                let elsewhere = try await foreign.get("/open/x")
                let picture = try await client.get("/open/x", ["Sec-Fetch-Dest": "image"])
                #expect([elsewhere.status, picture.status] == [421, 401])
            }
            let opened = try await client.get(link, ["Sec-Fetch-Dest": "document"])
            #expect(opened.status == 200)
        }
        await scene.shutdown()
    }

    @Test
    func `silent connections shut out nobody`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.browsing { client in
            let page = try await client.get(
                ConsoleScene.place + "/records/changes?database=private&user=alice&from=now"
            ).body
            let path = try #require(page.firstMatch(of: /data-events="([^"]+)"/)).1.unescaped
            let events = try await client.peer("GET", path)
            _ = await events.text { $0.contains(": changes") }
            var silent: [ConsolePeer] = []
            for _ in 0..<70 { silent.append(try await ConsolePeer.connect(client.address)) }
            #expect(try await client.get("/").status == 200)
            // The first ones have gone; a connection with a session has not.
            #expect(await silent[0].bytes { _ in false }.isEmpty)
            #expect(!events.isEnded)
            for peer in silent + [events] { await peer.close() }
        }
        await scene.shutdown()
    }

    /// Browsers try [::1] for names below `localhost`, too.
    @Test
    func `nobody else gets the console's port on the other loopback address`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.running { client, _ in
            let port = try #require(Int(client.host.split(separator: ":")[1]))
            #expect(throws: ConsoleFailure.addressInUse) { try OtherLoopback(port: port) }
        }
        let other = try OtherLoopback(port: 0)
        #expect(other.port != 0)
        scene.adjust { $0.address = .loopback(port: other.port) }
        await #expect(throws: ConsoleFailure.addressInUse) { try await scene.running { _, _ in } }
        other.close()
        await scene.shutdown()
    }

    @Test
    func `garbage instead of HTTP ends its connection, and nothing else`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.browsing { client in
            for text in [
                "\u{0}\u{1}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nA\r\n\r\n",
            ] {
                let peer = try await ConsolePeer.connect(client.address)
                await peer.send(text)
                let response = ConsoleResponse(await peer.bytes { !$0.isEmpty })
                #expect(response.status != 200)
                await peer.close()
            }
            #expect(try await client.get("/").status == 200)
        }
        await scene.shutdown()
    }
}
