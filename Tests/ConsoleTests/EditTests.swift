import Foundation
import RecordModel
import TestSupport
import Testing

@testable import Console

/// Records that are edited: as text, and through a real server.
@Suite(.timeLimit(.minutes(10)))
struct EditTests {
    private static let container = "iCloud.org.example.app"

    // MARK: Text

    @Test
    func `fields come back from their text as they were`() throws {
        let body = RecordBody([
            Field(name: "bytes", value: .bytes([0, 255])), Field(name: "count", value: .int64(.max)),
            Field(name: "empty", value: .string("")), Field(name: "ratio", value: .double(0.1)),
            Field(name: "tags", value: .stringList(["</textarea>", "\n", "\u{202E}turned\u{E0041}"])),
        ])
        #expect(try FieldsText.body(of: FieldsText.text(of: body)) == body)
        #expect(FieldsText.text(of: body).contains(#"\u202eturned\udb40\udc41"#))
        #expect(try FieldsText.body(of: FieldsText.text(of: .empty)) == .empty)
        let hidden = RecordBody([
            Field(name: "secret", value: .string("x"), isEncrypted: true),
            Field(name: "title", value: .string("t")),
        ])
        #expect(!FieldsText.text(of: hidden).contains("secret"))
    }

    @Test(arguments: [
        "", "{", "[]", "{} {}", "{\"a\":1,}", "{\"a\":{\"value\":1,\"type\":\"NONE\"}}",
        "{},\"parent\":{\"recordName\":\"p\"}x",
    ])
    func `text that is no object of fields is refused`(text: String) {
        #expect(throws: PageFailure.self) { try FieldsText.body(of: text) }
    }

    @Test
    func `changes are what was added, changed and removed, and apply to another body`() {
        let old = RecordBody([Field(name: "a", value: .int64(1)), Field(name: "b", value: .int64(2))])
        let new = RecordBody([Field(name: "a", value: .int64(1)), Field(name: "c", value: .int64(3))])
        let changes = FieldChanges(from: old, to: new)
        #expect(changes.lines.map(\.name) == ["b", "c"])
        #expect(
            changes.body == RecordBody([Field(name: "b", value: .clear), Field(name: "c", value: .int64(3))])
        )
        let theirs = RecordBody([Field(name: "a", value: .int64(9)), Field(name: "b", value: .int64(2))])
        #expect(
            changes.applied(to: theirs)
                == RecordBody([Field(name: "a", value: .int64(9)), Field(name: "c", value: .int64(3))])
        )
        #expect(FieldChanges(from: old, to: old).lines.isEmpty)
    }

    // MARK: Through a server

    /// A server with a record of alice, and a browser with a session.
    private struct Scene {
        let server: ServerProcess
        let console: ChildProcess
        let client: ConsoleClient
        let place = "/c/\(EditTests.container)/development"
        let own = "database=private&user=alice&name=first"

        func save(_ title: String) async throws {
            let file = self.server.folder.path + "/record.json"
            try
                #"{"recordName":"first","recordType":"Note","fields":{"title":{"value":"\#(title)"},"other":{"value":1}}}"#
                .write(toFile: file, atomically: false, encoding: .utf8)
            try await self.server.administer(
                [
                    "records", "save", "--as", "alice", "--container", EditTests.container, "--policy",
                    "all-keys",
                    "--file", file,
                ]
            )
        }

        func record() async throws -> String {
            try await self.server.administer(
                ["records", "get", "first", "--as", "alice", "--container", EditTests.container, "--json"]
            )
        }

        /// The fields of the form on a page, with another text.
        func form(of page: String, replacing old: String, by new: String) throws -> String {
            var items: [PageURL.Item] = []
            let form = page[(page.range(of: "/edit/") ?? page.startIndex..<page.startIndex).lowerBound...]
            for match in form.matches(of: /<input type="hidden" name="(\w+)" value="([^"]*)">/) {
                items.append(PageURL.Item(String(match.1), Self.plain(match.2)))
            }
            for match in form.matches(of: /<textarea name="(\w+)"[^>]*>([^<]*)<\/textarea>/) {
                let text = Self.plain(match.2)
                items.append(
                    PageURL.Item(
                        String(match.1),
                        match.1 == "text" ? text.replacingOccurrences(of: old, with: new) : text
                    )
                )
            }
            return String(PageURL("", items).text.dropFirst())
        }

        private static func plain(_ text: Substring) -> String {
            text.replacingOccurrences(of: "&quot;", with: "\"").replacingOccurrences(of: "&lt;", with: "<")
                .replacingOccurrences(of: "&#39;", with: "'").replacingOccurrences(of: "&amp;", with: "&")
        }
    }

    private func scene() async throws -> Scene {
        let served = try await ServedConsole.start()
        let scene = Scene(server: served.server, console: served.console, client: served.client)
        try await scene.save("Hello")
        return scene
    }

    @Test
    func `a change is reviewed, and saved through the server as the user`() async throws {
        let it = try await self.scene()
        let edit = try await it.client.get("\(it.place)/edit?\(it.own)").body
        let reviewForm = try it.form(of: edit, replacing: "Hello", by: "Changed")
        let review = try await it.client.post("\(it.place)/edit/review", reviewForm)
        #expect(review.status == 200)
        #expect(review.body.contains(">Hello<"))
        #expect(review.body.contains(">Changed<"))
        #expect(!review.body.contains("data-label=\"Field\"><bdi>other"))
        let saveForm = try it.form(of: review.body, replacing: "", by: "")
        #expect(
            try await it.client.post("\(it.place)/edit/save", saveForm, ["Origin": "http://evil.example"])
                .status == 403
        )
        #expect(try await it.record().contains("Hello"))
        let saved = try await it.client.post("\(it.place)/edit/save", saveForm)
        #expect(saved.status == 303)
        #expect(saved.fields["location"]?.hasPrefix("\(it.place)/record?") == true)
        #expect(try await it.record().contains("\"Changed\""))
        #expect(try await it.record().contains("\"other\""))
        // Nothing is left to save.
        let again = try await it.client.get("\(it.place)/edit?\(it.own)").body
        let same = try await it.client.post(
            "\(it.place)/edit/review",
            it.form(of: again, replacing: "x x", by: "")
        )
        #expect(same.body.contains("Nothing to save"))
        it.console.signal(SIGTERM)
        let outcome = await it.console.outcome()
        #expect(outcome.exitCode == 0)
        #expect(
            outcome.errors.contains(
                "saved first in the zone _defaultZone of \(Self.container) development as alice"
            )
        )
        let keys = try await it.server.administer(["key", "list", "--container", Self.container])
        #expect(keys.contains("tidemark-console"))
        #expect(keys.contains("revoked"))
        #expect(!keys.contains("active"))
        _ = await it.server.end(SIGTERM)
    }

    @Test
    func `a conflict shows all three, and a merge that can be saved`() async throws {
        let it = try await self.scene()
        let edit = try await it.client.get("\(it.place)/edit?\(it.own)").body
        let review = try await it.client.post(
            "\(it.place)/edit/review",
            it.form(of: edit, replacing: "\"value\":1,", by: "\"value\":2,")
        ).body
        try await it.save("Theirs")
        let conflict = try await it.client.post(
            "\(it.place)/edit/save",
            it.form(of: review, replacing: "", by: "")
        )
        #expect(conflict.status == 409)
        for text in ["A conflict", ">Hello<", ">Theirs<", "data-label=\"Yours\"><bdi>2<"] {
            #expect(conflict.body.contains(text), "\(text)")
        }
        #expect(try await it.record().contains("Theirs"))
        let merge = try await it.client.post(
            "\(it.place)/edit/review",
            it.form(of: conflict.body, replacing: "", by: "")
        )
        let saved = try await it.client.post(
            "\(it.place)/edit/save",
            it.form(of: merge.body, replacing: "", by: "")
        )
        #expect(saved.status == 303)
        let record = try await it.record()
        #expect(record.contains("Theirs"))
        #expect(record.contains("\"value\":2"))
        // Without a server nothing is saved, and the page says how to start one.
        _ = await it.server.end(SIGTERM)
        let last = try await it.client.get("\(it.place)/edit?\(it.own)").body
        let refused = try await it.client.post(
            "\(it.place)/edit/save",
            it.form(of: last, replacing: "Theirs", by: "x")
        )
        #expect(refused.status == 409)
        it.console.signal(SIGTERM)
        _ = await it.console.outcome()
    }
}
