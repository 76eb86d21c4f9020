import Foundation
import TestSupport
import Testing

@testable import Console

/// Shares that are begun, changed and ended from pages, by the real command beside a real server.
@Suite(.timeLimit(.minutes(10)))
struct ShareTests {
    private static let container = ServedConsole.container
    private static let development = ServedConsole.development
    private static let own = ServedConsole.own
    private static let zone = "zone=%3Cdesk%3E"

    /// Alice with a note below a folder in a zone, and bob.
    private static func scene() async throws -> ServedConsole {
        let it = try await ServedConsole.start()
        try await it.server.administer(["user", "add", "bob", "--container", self.container])
        try await it.importRecords(
            """
            {"recordName":"<list>","recordType":"List","zoneID":{"zoneName":"<desk>"},"fields":{"title":{"value":"x"}}}
            {"recordName":"other","recordType":"List","zoneID":{"zoneName":"shelf"},"fields":{"title":{"value":"y"}}}
            """
        )
        return it
    }

    /// Follows a link of a page by a part of its address.
    static func follow(
        _ part: String,
        of page: String,
        _ it: ServedConsole
    ) async throws -> ConsoleResponse {
        let found = page.matches(of: /href="([^"]+)/)
        let links = found.map { $0.1.unescaped }
        let link = try #require(links.first { $0.contains(part) }, "\(part) in \(page)")
        return try await it.client.get(link)
    }

    /// The page to which a change leads.
    static func led(_ response: ConsoleResponse, _ it: ServedConsole) async throws -> String {
        #expect(response.status == 303, "\(response.body)")
        return try await it.client.get(try #require(response.fields["location"])).body
    }

    /// The output of `tidemark access` about the shared record.
    private static func access(_ it: ServedConsole) async throws -> String {
        try await it.server.administer([
            "access", "<list>", "--container", self.container, "--as", "alice", "--zone", "<desk>",
        ])
    }

    private static let record = development + "/record?\(own)&\(zone)&name=%3Clist%3E"

    /// Shares the record, and returns the page of the share.
    private static func begin(_ it: ServedConsole) async throws -> String {
        let record = try await it.client.get(self.record).body
        let begin = try await self.follow("/share/begin", of: record, it).body
        #expect(begin.contains("<bdi>&lt;list&gt;</bdi> with all records below it"))
        return try await self.led(try await it.submit("/share/begin", of: begin), it)
    }

    private static func invite(
        _ who: String,
        to permission: String,
        _ page: String,
        _ it: ServedConsole
    ) async throws -> String {
        let values = [("who", who), ("permission", permission), ("role", "3")]
        return try await self.led(try await it.submit("/share/invite", of: page, values), it)
    }

    // MARK: Records and zones

    @Test
    func `a record is shared, and people are invited, and get other rights`() async throws {
        let it = try await Self.scene()
        var page = try await Self.begin(it)
        #expect(page.contains("1 participant"))
        #expect(page.contains("tidemark://127.0.0.1:\(it.server.port)/share/"))
        #expect(try await it.client.get(Self.record).body.contains(">Its share<"))
        // By the name of a user, by an address that nobody has yet, and by a URL for one person.
        page = try await Self.invite("bob", to: "2", page, it)
        page = try await Self.invite("eve@example.org", to: "3", page, it)
        page = try await Self.invite("", to: "2", page, it)
        #expect(page.contains("4 participants"))
        #expect(page.contains("<bdi>bob</bdi>") && page.contains("<bdi>eve@example.org</bdi>"))
        let urls = page.matches(of: /tidemark:\/\/127\.0\.0\.1:\d+\/share\/\w+/)
        #expect(urls.count == 2, "that of the share, and one for one person")
        let mallory = [("who", "mallory"), ("permission", "2")]
        let nobody = try await it.submit("/share/invite", of: page, mallory)
        #expect(nobody.status == 400)
        #expect(nobody.body.contains("neither the name of a user"))
        let bob = try #require(page.firstMatch(of: /<option value="(\w+)">bob, may read</)).1
        let permission = [("participant", String(bob)), ("permission", "3")]
        page = try await Self.led(try await it.submit("/share/permission", of: page, permission), it)
        #expect(page.contains(">bob, may read and write<"))
        #expect(try await Self.access(it).contains("invited user who may read and write"))
        let audit = try await it.client.get(Self.development + "/audit").body
        for text in [
            "share the record &lt;list&gt; of alice", "invite bob to read the share of &lt;list&gt; of alice",
            "invite eve@example.org to read and write the share", "make a one-time URL to read the share",
            "let bob read and write the share",
        ] { #expect(audit.contains(text), "\(text)") }
        await it.end()
    }

    @Test
    func `a participant is removed, and a share ends, after a name was typed`() async throws {
        let it = try await Self.scene()
        var page = try await Self.invite("bob", to: "2", try await Self.begin(it), it)
        page = try await Self.invite("eve@example.org", to: "3", page, it)
        // In development too.
        let remove = try await Self.follow("/share/remove?", of: page, it).body
        #expect(try await it.submit("/share/remove", of: remove, [("confirm", "alice")]).status == 400)
        let removed = try await it.submit("/share/remove", of: remove, [("confirm", "bob")])
        page = try await Self.led(removed, it)
        #expect(page.contains("2 participants") && !page.contains("<bdi>bob</bdi>"))
        let twice = try await it.submit("/share/remove", of: remove, [("confirm", "bob")])
        #expect(twice.status == 404, "they were removed already")
        let end = try await Self.follow("/share/end", of: page, it).body
        #expect(try await it.submit("/share/end", of: end).status == 400)
        let ended = try await it.submit("/share/end", of: end, [("confirm", "<list>")])
        let after = try await Self.led(ended, it)
        #expect(after.contains("/share/begin"), "the record is there, and nobody else's")
        #expect(try await !Self.access(it).contains("eve"))
        let audit = try await it.client.get(Self.development + "/audit").body
        for text in ["remove bob from the share", "stop sharing &lt;list&gt; of alice"] {
            #expect(audit.contains(text), "\(text)")
        }
        await it.end()
    }

    @Test
    func `a zone is shared as a whole, with anybody who has the URL`() async throws {
        let it = try await Self.scene()
        let zones = try await it.client.get(Self.development + "/zones?\(Self.own)").body
        let begin = try await Self.follow(
            "share/begin?database=private&user=alice&zone=%3Cdesk%3E",
            of: zones,
            it
        )
        #expect(begin.body.contains("the zone <bdi>&lt;desk&gt;</bdi> with all its records"))
        var page = try await Self.led(try await it.submit("/share/begin", of: begin.body), it)
        page = try await Self.led(
            try await it.submit("/share/invite", of: page, [("who", "bob"), ("permission", "2")]),
            it
        )
        let unsure = try await it.submit("/share/anybody", of: page, [("permission", "3")])
        #expect(unsure.status == 400)
        let open = [("permission", "3"), ("confirm", "<desk>")]
        let opened = try await Self.led(try await it.submit("/share/anybody", of: page, open), it)
        #expect(opened.contains("<dt>Anybody with the URL may</dt><dd>read and write</dd>"))
        #expect(!opened.contains("<bdi>bob</bdi>"), "another permission ends the invitation")
        #expect(!opened.contains("name=\"who\""), "whoever has the URL need not be invited")
        #expect(
            try await it.client.get(Self.development + "/zones?\(Self.own)").body.contains(">As a whole<")
        )
        // A form that was read before somebody else's change does not replace that change.
        let late = try await it.submit(
            "/share/anybody",
            of: page,
            [("permission", "2"), ("confirm", "<desk>")]
        )
        #expect(late.status == 409)
        #expect(late.body.contains("Somebody else has made a change since the page was read"))
        await it.end()
    }

    @Test
    func `a client joins by the URL of a page, and loses the records when it is removed`() async throws {
        let it = try await ServedConsole.start()
        let container = "iCloud.org.example.lists"
        try await it.server.administer(["container", "create", container])
        let alice = try await it.server.administer(["user", "add", "alice", "--container", container])
        let bob = try await it.server.administer(["user", "add", "bob", "--container", container])
        func list(_ token: String, _ arguments: [String], _ state: String) throws -> ChildProcess {
            try ChildProcess(
                ChildProcess.buildFolder.appendingPathComponent("shared-list"),
                arguments,
                environment: [
                    "TIDEMARK_URL": "tidemark://localhost:\(it.server.port)",
                    "TIDEMARK_CA": it.server.authorityPath, "TIDEMARK_TOKEN": token,
                    "XDG_STATE_HOME": it.server.folder.path + "/" + state,
                ]
            )
        }
        let host = try list(alice, ["host", "milk"], "alice")
        _ = await host.find { $0.contains("Share: ") ? true : nil }
        let place = "/c/\(container)/development"
        let record = try await it.client.get(
            place + "/record?\(Self.own)&zone=Lists&name=shopping"
        ).body
        let page = try await Self.follow("/share?", of: record, it).body
        let url = try #require(page.firstMatch(of: /tidemark:\/\/127\.0\.0\.1:\d+\/share\/\w+/)).0
        let guest = try list(bob, ["join", String(url).replacing("127.0.0.1", with: "localhost")], "bob")
        #expect(await guest.find { $0.contains("News: milk") ? true : nil } == true, "\(guest.errorsSoFar)")
        let joined = try await Self.follow("/share?", of: record, it).body
        #expect(joined.contains("<bdi>bob</bdi>") && joined.contains("came by the URL"))
        let theirs = place + "/zones?database=shared&user=bob"
        #expect(try await it.client.get(theirs).body.contains(">Lists<"))
        let remove = try await Self.follow("/share/remove?", of: joined, it).body
        #expect(remove.contains("remove their copies of the records"))
        #expect(remove.contains("<button type=\"submit\" class=\"danger\">"))
        _ = try await Self.led(try await it.submit("/share/remove", of: remove, [("confirm", "bob")]), it)
        #expect(!(try await it.client.get(theirs).body.contains(">Lists<")))
        for process in [host, guest] {
            process.signal(SIGKILL)
            _ = await process.outcome()
        }
        await it.end()
    }

    // MARK: Refusals

    @Test
    func `what cannot be shared is refused, and without a server nothing is changed`() async throws {
        let it = try await Self.scene()
        let base = Self.development + "/share/begin?"
        #expect(try await it.client.get(base + "\(Self.own)&zone=_defaultZone").status == 400)
        #expect(try await it.client.get(base + Self.zone).status == 400, "the public database")
        #expect(try await it.client.get(base + "\(Self.own)&\(Self.zone)&name=none").status == 404)
        let noShare = Self.development + "/share?\(Self.own)&\(Self.zone)&name=%3Clist%3E"
        #expect(try await it.client.get(noShare).status == 404)
        // In production the name of the container is typed.
        let production = try await it.client.get(
            ServedConsole.production + "/share/begin?\(Self.own)&zone=desk"
        ).body
        #expect(production.contains("To confirm, type <bdi>\(Self.container)</bdi>"))
        #expect(try await it.submit("/share/begin", of: production).status == 400)
        let zone = try await it.client.get(base + "\(Self.own)&zone=shelf").body
        let page = try await Self.led(try await it.submit("/share/begin", of: zone), it)
        let twice = try await it.submit("/share/begin", of: zone)
        #expect(twice.status == 409)
        _ = await it.server.end(SIGTERM)
        let invite = try await it.submit("/share/invite", of: page, [("who", "bob"), ("permission", "2")])
        #expect(invite.status == 409)
        #expect(
            invite.body.contains("Nothing was changed") || invite.body.contains("No server serves the folder")
        )
        it.console.signal(SIGTERM)
        _ = await it.console.outcome()
    }
}
