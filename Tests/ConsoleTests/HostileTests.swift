import Foundation
import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import Console

/// Contents that somebody chose to harm whoever looks at them, or that are as large as they may be.
@Suite(.timeLimit(.minutes(10)))
struct HostileTests {
    private static let place = ConsoleScene.place
    private static let own = "database=private&user=alice"
    private static let script = "<script>alert(1)</script>"

    @Test
    func `names and values with markup and turned letters are drawn as text`() async throws {
        let scene = try ConsoleScene.withAlice()
        let name = "\"><img src=x onerror=alert(1)>"
        try await scene.makeZones([Self.script])
        let fields = [
            Field(name: "text", value: .string(Self.script + "\u{202E}fdp.exe\u{0}")),
            Field(name: "texts", value: .stringList(["</ul>" + Self.script])),
        ]
        try await scene.save([(name, fields)], zone: Self.script)
        try await scene.browsing { client in
            let zone = "zone=%3Cscript%3Ealert(1)%3C%2Fscript%3E"
            let encoded = PageURL("", [PageURL.Item("name", name)]).text.dropFirst()
            let paths = [
                "/records?\(Self.own)&type=Note", "/records?\(Self.own)&type=Note&\(zone)",
                "/records/snapshot?\(Self.own)&\(zone)",
                "/records/changes?\(Self.own)&\(zone)&from=beginning",
                "/records/fetch?\(Self.own)&\(zone)&names=" + encoded.dropFirst(5),
                "/record?\(Self.own)&\(zone)&\(encoded)", "/zones?\(Self.own)",
                "/record?\(Self.own)&\(zone)&name=\(Self.script.replacing("/", with: "%2F"))",
                "/records?\(Self.own)&type=\(Self.script.replacing("/", with: "%2F"))",
                "/users?name=\(Self.script.replacing("/", with: "%2F"))",
            ]
            for path in paths {
                let response = try await client.get(Self.place + path)
                #expect([200, 404].contains(response.status), "\(path)")
                #expect(!response.body.contains("<script>"), "\(path)")
                #expect(!response.body.contains("<img"), "\(path)")
                #expect(!response.body.contains("\u{202E}") || path.hasPrefix("/record?"), "\(path)")
                #expect(!response.bytes.contains(0), "\(path)")
            }
            let record = try await client.get(Self.place + "/record?\(Self.own)&\(zone)&\(encoded)").body
            #expect(record.contains("<span class=\"odd\">U+202E</span>fdp.exe"))
        }
        await scene.shutdown()
    }

    @Test
    func `links to records beyond ASCII lead to the records that they name`() async throws {
        let scene = try ConsoleScene.withAlice()
        let names = [
            "caf\u{E9}", "cafe\u{301}", "👩‍👩‍👧 🌊", "a/b?c=d&e%20\"f\"+g;h#i",
            "\u{200F}שלום \u{202B}مرحبا\u{202C}",
            String(repeating: "🌊", count: 127) + "x",
        ]
        try await scene.save(
            names.enumerated().map { ($1, [Field(name: "text", value: .string("number-\($0)"))]) }
        )
        try await scene.browsing { client in
            let list = try await client.get(Self.place + "/records?\(Self.own)&type=Note").body
            let links = Set(list.matches(of: /href="([^"]*\/record\?[^"]+)"/).map(\.1))
            #expect(links.count == names.count, "\(links)")
            var found: Set<String> = []
            for link in links {
                let page = try await client.get(link.unescaped)
                #expect(page.status == 200, "\(link)")
                found.formUnion(page.body.matches(of: /number-\d/).map { String($0.output) })
                // Names as they are drawn: with a note in place of a character that turns letters.
                #expect(page.body.contains("number-4") == page.body.contains("U+202B"), "\(link)")
            }
            #expect(found.count == names.count, "\(found)")
            for (number, name) in names.enumerated() {
                let encoded = PageURL("", [PageURL.Item("name", name)]).text.dropFirst()
                let page = try await client.get(Self.place + "/record?\(Self.own)&\(encoded)")
                #expect(page.body.contains("number-\(number)"), "\(name)")
            }
        }
        await scene.shutdown()
    }

    @Test
    func `a value as large as it may be is cut, and whole behind its link`() async throws {
        let scene = try ConsoleScene.withAlice()
        let text = String(repeating: "ä", count: 500_000)
        try await scene.save([("large", [Field(name: "text", value: .string(text))])])
        try await scene.browsing { client in
            let list = try await client.get(Self.place + "/records?\(Self.own)&type=Note")
            #expect(list.bytes.count < 20_000)
            #expect(list.body.contains("… 977 KiB"))
            let record = try await client.get(Self.place + "/record?\(Self.own)&name=large")
            #expect(record.bytes.count < 60_000)
            let match = try #require(record.body.firstMatch(of: /href="([^"]+)">The whole text/))
            let whole = try await client.get(match.1.unescaped)
            #expect(whole.body == text)
            #expect(whole.fields["content-type"] == "text/plain; charset=utf-8")
            #expect(whole.fields["content-security-policy"] == "sandbox; default-src 'none'")
        }
        await scene.shutdown()
    }

    @Test
    func `200 large records are one page of bounded size`() async throws {
        let scene = try ConsoleScene.withAlice()
        let text = String(repeating: "x", count: 100_000)
        for start in stride(from: 0, to: 200, by: 10) {
            try await scene.save(
                (start..<start + 10).map { ("r\($0)", [Field(name: "text", value: .string(text))]) }
            )
        }
        try await scene.browsing { client in
            let page = try await client.get(Self.place + "/records?\(Self.own)&type=Note")
            #expect(page.status == 200)
            #expect(page.bytes.count < 500_000)
        }
        await scene.shutdown()
    }

    @Test
    func `10,000 zones are pages of 200`() async throws {
        let scene = try ConsoleScene.withAlice()
        // The default zone is one of them.
        for start in stride(from: 1, to: 10_000, by: 400) {
            try await scene.makeZones((start..<min(start + 400, 10_000)).map { "zone-\($0)" })
        }
        try await scene.browsing { client in
            var next: String? = Self.place + "/zones?\(Self.own)"
            var found: Set<String> = []
            var pages = 0
            while let path = next, pages < 60 {
                let page = try await client.get(path).body
                found.formUnion(page.matches(of: />(zone-\d+)</).map { String($0.1) })
                next = page.firstMatch(of: /rel="next" href="([^"]+)"/).map { $0.1.unescaped }
                pages += 1
            }
            #expect(found.count == 9_999)
            #expect((50...52).contains(pages))
        }
        await scene.shutdown()
    }

    // MARK: Assets

    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]

    @Test(
        arguments: [
            (png, "image/png"), ([0xFF, 0xD8, 0xFF, 0xE0], "image/jpeg"),
            (Array("RIFF1234WEBPVP8 ".utf8), "image/webp"), (Array("<svg xmlns='x'>".utf8), nil),
            (Array("<!doctype html>".utf8), nil), (Array("RIFF1234AVI ".utf8), nil), ([], nil),
            (Array("GIF89a".utf8), nil), ([0x89, 0x50, 0x4E], nil),
        ] as [([UInt8], String?)]
    )
    func `only images are previewed, by what their bytes say`(head: [UInt8], contentType: String?) {
        #expect(AssetPreview.contentType(of: Data(head)) == contentType)
    }
}
