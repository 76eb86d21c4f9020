import Foundation
import RecordModel
import TestSupport
import Testing

@testable import Console

/// Requests for access to a share: a client asks, and the owner answers from the page of the share.
@Suite(.timeLimit(.minutes(10)))
struct ShareRequestTests {
    private static let container = ServedConsole.container
    private static let development = ServedConsole.development
    private static let own = ServedConsole.own

    /// The zone "desk" of alice, which is shared, and people who may ask for it.
    private struct Scene {
        let it: ServedConsole
        let tokens: [String: String]
        /// The page of the share.
        var page: String

        init(of people: [String]) async throws {
            self.it = try await ServedConsole.start()
            var tokens: [String: String] = [:]
            for name in people {
                tokens[name] = try await self.it.server.administer([
                    "user", "add", name, "--container", container,
                ])
            }
            self.tokens = tokens
            try await self.it.importRecords(
                """
                {"recordName":"list","recordType":"List","zoneID":{"zoneName":"desk"},"fields":{"title":{"value":"x"}}}
                """
            )
            let path = development + "/share/begin?\(own)&zone=desk"
            let begin = try await self.it.client.get(path).body
            self.page = try await ShareTests.led(try await self.it.submit("/share/begin", of: begin), self.it)
        }

        /// The last part of the share's URL.
        var token: String { self.page.firstMatch(of: /\/share\/(\w{16,})</).map { String($0.1) } ?? "" }

        /// Loads the page of the share anew.
        mutating func load() async throws {
            let path = development + "/share?\(own)&zone=desk&name=cloudkit.zoneshare"
            self.page = try await self.it.client.get(path).body
        }

        /// Sends a form, and loads the page to which it leads.
        mutating func submit(_ action: String, _ values: [(String, String)]) async throws {
            let response = try await self.it.submit("/share/" + action, of: self.page, values)
            self.page = try await ShareTests.led(response, self.it)
        }

        func ask(_ name: String) async throws -> Bool {
            let asking = RequestShareAccess(tokens: [self.token])
            return try await self.it.perform(
                .requestShareAccess(asking),
                token: try #require(self.tokens[name])
            )
        }

        func join(_ name: String) async throws -> Bool {
            let joining = AcceptShares(tokens: [self.token])
            return try await self.it.perform(.acceptShares(joining), token: try #require(self.tokens[name]))
        }

        /// The value of somebody in the list of those who ask; `nil` if they do not.
        func requester(_ name: String) -> String? {
            self.page.matches(of: /<option value="(_\w+)">(\w+)</).first { $0.2 == name }.map { String($0.1) }
        }
    }

    @Test
    func `who asks is let in to read or to write, or is denied, and may ask again`() async throws {
        var scene = try await Scene(of: ["bob", "carol", "dave"])
        // A share takes no requests unless its owner says so.
        #expect(scene.page.contains("<dt>Requests for access</dt><dd>are not taken</dd>"))
        #expect(!scene.page.contains(">Deny<"))
        #expect(try await !scene.ask("bob"))
        try await scene.submit("requests", [("taken", "yes")])
        #expect(scene.page.contains("<dt>Requests for access</dt><dd>are taken</dd>"))
        for name in ["bob", "carol", "dave"] { #expect(try await scene.ask(name)) }
        try await scene.load()
        #expect(scene.page.contains("<dt>Ask for access</dt><dd><bdi>bob, carol, dave</bdi></dd>"))
        let record = Self.development + "/record?\(Self.own)&zone=desk&name=cloudkit.zoneshare"
        let panel = try await scene.it.client.get(record).body
        #expect(panel.contains("Ask for access: <bdi>bob, carol, dave</bdi>"))
        let list = Self.development + "/record?\(Self.own)&zone=desk&name=list"
        let covered = try await scene.it.client.get(list).body
        #expect(covered.contains(">The share that covers it<") && covered.contains("3 people ask for access"))
        let answers = try await ShareTests.follow("/share?", of: panel, scene.it).body
        #expect(answers.contains("/share/answer"))
        // One of each answer.
        for (name, permission) in [("bob", "2"), ("carol", "3"), ("dave", "1")] {
            let requester = try #require(scene.requester(name), "\(name) in \(scene.page)")
            try await scene.submit("answer", [("requester", requester), ("permission", permission)])
            #expect(scene.requester(name) == nil)
        }
        #expect(!scene.page.contains(">Deny<"), "nobody asks any more")
        #expect(scene.page.contains("3 participants") && !scene.page.contains("<bdi>dave</bdi>"))
        for name in ["bob", "carol"] { #expect(try await scene.join(name)) }
        #expect(try await !scene.join("dave"))
        try await scene.load()
        #expect(scene.page.contains(">bob, may read<") && scene.page.contains(">carol, may read and write<"))
        #expect(scene.page.matches(of: />has joined</).count == 3)
        #expect(try await scene.ask("dave"))
        try await scene.load()
        #expect(scene.requester("dave") != nil)
        let audit = try await scene.it.client.get(Self.development + "/audit").body
        for text in [
            "take requests for access to the share of desk", "let bob, who asked, read the share of desk",
            "let carol, who asked, read and write the share of desk", "deny dave access to the share of desk",
        ] { #expect(audit.contains(text), "\(text)") }
        await scene.it.end()
    }

    @Test
    func `an answer to nobody, without a permission, or with an old page is refused`() async throws {
        var scene = try await Scene(of: ["bob", "carol"])
        try await scene.submit("requests", [("taken", "yes")])
        for name in ["bob", "carol"] { #expect(try await scene.ask(name)) }
        try await scene.load()
        let old = scene.page
        let bob = try #require(scene.requester("bob"))
        for (values, status) in [
            ([("requester", "_nobody"), ("permission", "2")], 404), ([("permission", "2")], 404),
            ([("requester", bob)], 400), ([("requester", bob), ("permission", "7")], 400),
        ] {
            let response = try await scene.it.submit("/share/answer", of: old, values)
            #expect(response.status == status, "\(values)")
        }
        let unclear = try await scene.it.submit("/share/requests", of: old, [("taken", "perhaps")])
        #expect(unclear.status == 400)
        try await scene.submit("answer", [("requester", bob), ("permission", "2")])
        let again = [("requester", bob), ("permission", "3")]
        let twice = try await scene.it.submit("/share/answer", of: old, again)
        #expect(twice.status == 404)
        let carol = try #require(scene.requester("carol"))
        let denial = [("requester", carol), ("permission", "1")]
        let late = try await scene.it.submit("/share/answer", of: old, denial)
        #expect(late.status == 409, "somebody has changed the share since the page was read")
        // Where anybody with the URL may join, nobody is invited: who asked may only be denied.
        try await scene.submit("anybody", [("permission", "2"), ("confirm", "desk")])
        #expect(scene.page.contains(">Deny<") && !scene.page.contains(">Let them read<"))
        try await scene.submit("answer", denial)
        #expect(scene.requester("carol") == nil)
        try await scene.submit("requests", [("taken", "no")])
        #expect(scene.page.contains("<dd>are not taken</dd>"))
        await scene.it.end()
    }
}
