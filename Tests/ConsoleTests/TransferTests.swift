import Foundation
import NIOCore
import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import Console

/// Records that leave as files, and files that come.
@Suite(.timeLimit(.minutes(10)))
struct TransferTests {
    private static let place = ConsoleScene.place
    private static let own = "database=private&user=alice"

    // MARK: Export

    /// 300 notes in a zone, more than a page shows.
    private static func scene() async throws -> ConsoleScene {
        let scene = try ConsoleScene.withAlice()
        try await scene.makeZones(["desk"])
        for start in stride(from: 0, to: 300, by: 150) {
            try await scene.save(
                (start..<start + 150).map { number in
                    (
                        "n\(number)",
                        [
                            Field(name: "count", value: .int64(Int64(number))),
                            Field(name: "title", value: .string("=a, \"b\"\n\(number)")),
                        ]
                    )
                },
                zone: "desk"
            )
        }
        return scene
    }

    private static func lines(_ response: ConsoleResponse) throws -> [Substring] {
        String(decoding: try #require(response.unchunked), as: UTF8.self).split(separator: "\n")
    }

    @Test
    func `each tab leaves as a whole file, in JSON lines and as a table`() async throws {
        let scene = try await Self.scene()
        try await scene.browsing { client in
            let base = Self.place + "/records/export?\(Self.own)"
            let snapshot = try await client.get(base + "&from=snapshot&zone=desk")
            #expect(snapshot.fields["content-type"] == "application/x-ndjson")
            #expect(
                snapshot.fields["content-disposition"] == "attachment; filename=\"desk-development.jsonl\""
            )
            #expect(snapshot.fields["content-security-policy"] == "sandbox; default-src 'none'")
            let all = try Self.lines(snapshot)
            #expect(all.count == 300)
            #expect(all.first?.hasPrefix("{\"recordName\":\"n0\",\"recordType\":\"Note\"") == true)
            let query = base + "&from=query&type=Note&field=count&test=lt&value=250&sort=count"
            let found = try Self.lines(try await client.get(query + "&format=json"))
            #expect(found.count == 250, "more than one page")
            let table = try #require(try await client.get(query + "&format=csv&columns=title").unchunked)
            let text = String(decoding: table, as: UTF8.self)
            #expect(text.hasPrefix("recordName,recordChangeTag,title\n"))
            #expect(text.contains(",\"=a, \"\"b\"\"\n249\"\n"))
            let wide = try Self.lines(
                try await client.get(base + "&from=snapshot&zone=desk&format=csv&type=Note")
            )
            #expect(wide.first == "recordName,recordChangeTag,count:INT64,title")
            let changes = try Self.lines(try await client.get(base + "&from=changes&zone=desk"))
            #expect(changes.count == 301)
            let token = try #require(changes.last?.firstMatch(of: /"syncToken":"([^"]+)"/)).1
            try await scene.write(
                .modifyRecords(
                    ModifyRecords(
                        scope: .private,
                        saves: [],
                        deletes: [RecordID(zone: ZoneID(zoneName: "desk"), recordName: "n7")]
                    )
                ),
                by: scene.requester()
            )
            let since = PageURL(Self.place + "/records/export")
                .adding("database", "private").adding("user", "alice").adding("zone", "desk")
                .adding("from", "changes").adding("token", String(token)).text
            let later = try Self.lines(try await client.get(since))
            #expect(later.count == 2)
            #expect(later.first?.contains("\"deleted\":true") == true)
        }
        await scene.shutdown()
    }

    @Test
    func `tabs have links to their files, and what is no file is a page that says why`() async throws {
        let scene = try await Self.scene()
        try await scene.browsing { client in
            let base = Self.place + "/records/export?\(Self.own)"
            for tab in [
                "/records?\(Self.own)&type=Note", "/records/snapshot?\(Self.own)&zone=desk&order=newest",
                "/records/changes?\(Self.own)&zone=desk&from=beginning",
            ] {
                let page = try await client.get(Self.place + tab).body
                let link = try #require(page.firstMatch(of: /href="([^"]*records\/export[^"]*format=json)"/))
                #expect(try Self.lines(try await client.get(link.1.unescaped)).count >= 300, "\(tab)")
            }
            for bad in [
                "", "&from=query", "&from=changes&token=AAAA", "&from=snapshot&zone=none",
                "&from=snapshot&zone=desk&format=csv", "&from=query&type=Note&predicate=((",
                "&from=snapshot&zone=desk&format=xml",
            ] {
                #expect(try await client.get(base + bad).status >= 400, "\(bad)")
            }
        }
        await scene.shutdown()
    }

    @Test
    func `a file that cannot be read to its end breaks off, and never ends as if it were whole`()
        async throws
    {
        let scene = try ConsoleScene.withAlice()
        try await scene.makeZones(["desk"])
        // More than sockets take while nobody reads.
        let text = String(repeating: "x", count: 900_000)
        for number in 0..<60 {
            try await scene.save([("n\(number)", [Field(name: "text", value: .string(text))])], zone: "desk")
        }
        try await scene.browsing { client in
            let path = Self.place + "/records/export?\(Self.own)&from=snapshot&zone=desk"
            let slow = try await client.peer("GET", path, isSlow: true)
            slow.readSome()
            _ = await slow.bytes { !$0.isEmpty }
            try await scene.write(
                .modifyZones(ModifyZones(scope: .private, saves: [], deletes: [ZoneID(zoneName: "desk")])),
                by: scene.requester()
            )
            try await slow.readAll()
            let response = ConsoleResponse(await slow.bytes { _ in false })
            #expect(response.status == 200)
            #expect(response.unchunked == nil, "the last chunk says that all is there")
            #expect(response.bytes.count < 60 * 900_000)
        }
        await scene.shutdown()
    }

    // MARK: Import

    private static let records = """
        {"recordName":"a","recordType":"Note","fields":{"title":{"value":"A"}}}
        {"recordName":"b","recordType":"Note","fields":{"title":{"value":"B"}}}
        """

    @Test
    func `pasted records are tried, and then imported as the command imports them`() async throws {
        let it = try await ServedConsole.start()
        // The first save makes the databases of a user.
        try await it.importRecords(#"{"recordName":"seed","recordType":"Seed","fields":{}}"#)
        let path = ServedConsole.development + "/records/import?\(ServedConsole.own)"
        let begin = try await it.client.get(path).body
        let dry = try await it.submit("/records/import", of: begin, [("records", Self.records)])
        #expect(dry.status == 200)
        #expect(dry.body.contains("<dt>Created</dt><dd>2</dd>"))
        #expect(dry.body.contains("Nothing was written."))
        #expect(try await it.exportRecords(["--type", "Note"]).isEmpty)
        let done = try await it.submit("/records/import/commit", of: dry.body)
        #expect(done.status == 200)
        #expect(done.body.contains("<dt>Created</dt><dd>2</dd>"))
        #expect(
            try await it.exportRecords(["--type", "Note"]).matches(of: /"recordName":"[ab]","recordType"/)
                .count == 2
        )
        // A file is imported once: then it is gone.
        #expect(try await it.submit("/records/import/commit", of: dry.body).status == 404)
        // The same again changes nothing; what differs is named with its line.
        let differing = Self.records.replacing("\"B\"", with: "\"<b>\"")
        let again = try await it.submit("/records/import", of: begin, [("records", differing)])
        #expect(again.body.contains("<dt>Unchanged</dt><dd>1</dd>"))
        #expect(again.body.contains("<dt>Refused</dt><dd>1</dd>"))
        #expect(again.body.contains("There is nothing to write."))
        #expect(again.body.firstMatch(of: /<th scope="row" data-label="Line">2<\/th>/) != nil)
        let overwriting = try await it.submit(
            "/records/import",
            of: begin,
            [("records", differing), ("policy", "changed-keys")]
        )
        #expect(overwriting.body.contains("<dt>Changed</dt><dd>1</dd>"))
        let faults = [
            ("{\"recordName\":", "line 1"), (Self.records + "\n{}", "line 3"), ("", "paste some"),
            ("[]", "there is no record"),
            (Self.records.replacing("\"b\"", with: "\"a\""), "is also in line 1"),
        ]
        for (text, why) in faults {
            let refused = try await it.submit("/records/import", of: begin, [("records", text)])
            #expect(refused.status >= 400, "\(text)")
            #expect(refused.body.contains(why), "\(text): \(refused.body)")
            #expect(!refused.body.contains("tidemark-console-"), "no path of the console's")
        }
        let zone = #"{"recordName":"z","recordType":"Note","zoneID":{"zoneName":"new"},"fields":{}}"#
        let missing = try await it.submit("/records/import", of: begin, [("records", zone)])
        #expect(missing.status == 409)
        let made = try await it.submit("/records/import", of: begin, [("records", zone), ("zones", "yes")])
        #expect(made.body.contains("<dt>Zones created</dt><dd>1</dd>"))
        #expect(try await it.submit("/records/import/commit", of: made.body).status == 200)
        #expect(try await it.exportRecords(["--type", "Note"]).contains("\"new\""))
        let audit = try await it.client.get(ServedConsole.development + "/audit").body
        #expect(audit.contains("import a file of records into the private database as alice"))
        await it.end()
    }

    @Test
    func `a file comes as it is, in CSV too, and what an export wrote comes back`() async throws {
        let it = try await ServedConsole.start()
        // The first save makes the databases of a user.
        try await it.importRecords(#"{"recordName":"seed","recordType":"Seed","fields":{}}"#)
        let path = ServedConsole.development + "/records/import?\(ServedConsole.own)"
        let begin = try await it.client.get(path).body
        let secret = try #require(begin.firstMatch(of: /name="secret" value="(\w+)"/)).1
        let upload = try #require(begin.firstMatch(of: /data-upload="([^"]+)"/)).1.unescaped
        #expect(begin.contains("data-upload-bytes-max=\"\(Uploads.fileBytesMax)\""))
        // More than a form takes.
        let lines = (0..<30_000).map { "row\($0),\($0),\"text, \($0)\"\n" }.joined()
        let file = "recordName,count:INT64,title\n" + lines
        let sent = try await it.client.post(upload, file, ["X-Form-Secret": String(secret)])
        #expect(sent.status == 200)
        let values = [("upload", sent.body), ("format", "csv"), ("type", "Row")]
        let dry = try await it.submit("/records/import", of: begin, values)
        #expect(dry.body.contains("<dt>Created</dt><dd>30,000</dd>"))
        let done = try await it.submit("/records/import/commit", of: dry.body)
        #expect(done.body.contains("<dt>Created</dt><dd>30,000</dd>"))
        let export = try await it.client.get(
            ServedConsole.development + "/records/export?\(ServedConsole.own)&from=query&type=Row&format=csv"
        )
        let text = String(decoding: try #require(export.unchunked), as: UTF8.self)
        #expect(text.split(separator: "\n").count == 30_001)
        #expect(text.contains(",29999,\"text, 29999\"\n"))
        let back = try await it.client.post(upload, text, ["X-Form-Secret": String(secret)])
        let same = try await it.submit(
            "/records/import",
            of: begin,
            [("upload", back.body), ("format", "csv"), ("type", "Row")]
        )
        #expect(same.body.contains("<dt>Unchanged</dt><dd>30,000</dd>"))
        let unknown = try await it.submit("/records/import", of: begin, [("upload", "../../etc/passwd")])
        #expect(unknown.status == 404)
        await it.end()
    }

    @Test
    func `files are kept with a bound, for their owner, until the console ends`() async throws {
        let uploads = Uploads()
        var names: [String] = []
        for number in 0...Uploads.filesMax {
            names.append(try await uploads.take(Self.pieces([[UInt8](repeating: UInt8(number), count: 10)])))
        }
        #expect(uploads.path(of: names[0]) == nil, "the oldest has gone")
        let path = try #require(uploads.path(of: names[1]))
        #expect(FileManager.default.contents(atPath: path) == Data(repeating: 1, count: 10))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect((mode as? NSNumber)?.intValue == 0o600)
        #expect(uploads.path(of: "../" + names[1]) == nil)
        uploads.remove(names[1])
        #expect(!FileManager.default.fileExists(atPath: path))
        let last = try #require(uploads.path(of: names[2]))
        uploads.removeAll()
        #expect(!FileManager.default.fileExists(atPath: (last as NSString).deletingLastPathComponent))
    }
}

extension TransferTests {
    private static func pieces(_ pieces: [[UInt8]]) -> AsyncStream<ByteBuffer> {
        AsyncStream { continuation in
            for piece in pieces { continuation.yield(ByteBuffer(bytes: piece)) }
            continuation.finish()
        }
    }
}
