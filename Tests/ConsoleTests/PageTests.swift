import Foundation
import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import Console

/// The pages of an empty store, and of one with records.
@Suite(.timeLimit(.minutes(10)))
struct PageTests {
    private static let place = ConsoleScene.place

    @Test
    func `an empty store has a start page that says what to do`() async throws {
        let scene = try ConsoleScene()
        try await scene.browsing { client in
            let page = try await client.get("/").body
            #expect(page.contains("tidemark container create"))
            #expect(try await client.get(Self.place).status == 404)
            #expect(try await client.get("/c/x/development/records?database=none").status == 404)
        }
        await scene.shutdown()
    }

    @Test(arguments: [
        "", "/records", "/records/fetch", "/records/changes", "/records/snapshot", "/zones", "/schema",
        "/subscriptions", "/users", "/usage", "/audit", "/records/import",
    ])
    func `every page of a container without records is a whole document`(path: String) async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.browsing { client in
            for database in ["", "?database=private&user=alice", "?database=shared&user=alice"] {
                let response = try await client.get(Self.place + path + database)
                #expect(response.status == 200, "\(path)\(database)")
                #expect(response.body.hasPrefix("<!doctype html>"))
                #expect(response.body.hasSuffix("</html>"))
                #expect(response.body.components(separatedBy: "<h1>").count == 2)
                #expect(response.body.contains("<main"))
            }
        }
        await scene.shutdown()
    }

    @Test
    func `production has another colour, and its own data`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.save([("a", [Field(name: "title", value: .string("x"))])], scope: .public)
        try await scene.browsing { client in
            let production = try await client.get("/c/\(ConsoleScene.container)/production").body
            #expect(production.contains("<html lang=\"en\" data-environment=\"production\">"))
            #expect(!production.contains(">Note<"))
            let development = try await client.get(Self.place).body
            #expect(development.contains("<html lang=\"en\">"))
            #expect(development.contains("type=Note"))
            #expect(try await client.get("/c/\(ConsoleScene.container)/staging").status == 404)
        }
        await scene.shutdown()
    }

    // MARK: Queries

    @Test
    func `a query shows records a page at a time, with plan and cost`() async throws {
        let scene = try ConsoleScene.withAlice()
        for start in stride(from: 0, to: 500, by: 250) {
            try await scene.save(
                (start..<start + 250).map { number in
                    (
                        "n\(number)",
                        [
                            Field(name: "count", value: .int64(Int64(number))),
                            Field(name: "title", value: .string("note \(number)")),
                        ]
                    )
                }
            )
        }
        try await scene.browsing { client in
            let base = Self.place + "/records?database=private&user=alice&type=Note"
            let url = base + "&field=count&test=ge&value=100&sort=count&order=descending"
            var next: String? = url
            var names: [String] = []
            var pages = 0
            while let path = next {
                let page = try await client.get(path).body
                #expect(page.contains("index entries"))
                #expect(page.contains("read index of count"))
                names += page.matches(of: /name=(n\d+)">/).map { String($0.1) }
                next = page.firstMatch(of: /rel="next" href="([^"]+)"/).map {
                    $0.1.unescaped
                }
                pages += 1
                guard pages < 10 else { break }
            }
            #expect(names == (100..<500).reversed().map { "n\($0)" })
            #expect(pages == 2 || pages == 3)
            let counted = try await client.get(url + "&count=all").body
            #expect(counted.contains("<strong>400 records</strong>"))
            let columns = try await client.get(base + "&columns=title").body
            #expect(columns.contains("<td data-label=\"title\">"))
            #expect(!columns.contains("<td data-label=\"count\">"))
            let predicate = try await client.get(base + "&predicate=count%20%3D%3D%207").body
            #expect(predicate.matches(of: /name=n\d+">/).count == 1)
        }
        await scene.shutdown()
    }

    @Test
    func `a query that the schema does not permit says which line is missing`() async throws {
        let scene = try ConsoleScene.withAlice()
        let text = """
            DEFINE SCHEMA
            RECORD TYPE Note (
                "___recordID" REFERENCE QUERYABLE,
                title STRING SORTABLE,
                secret ENCRYPTED STRING
            );
            """
        let document = try SchemaParser.parse(text)
        try scene.store.schemas.apply(.replaceDevelopment(document), inContainer: ConsoleScene.container)
        try await scene.browsing { client in
            let base = Self.place + "/records?database=private&user=alice&type=Note"
            let page = try await client.get(base + "&field=title&test=eq&value=x").body
            #expect(page.contains("role=\"alert\""))
            #expect(page.contains("title STRING QUERYABLE SORTABLE"))
            let form = try await client.get(base).body
            #expect(form.contains("<option value=\"title\""))
            #expect(!form.contains("<option value=\"secret\""))
            for bad in [
                "&predicate=((", "&field=title&test=eq&value=x&field=nope&test=eq&value=1", "&cursor=AAAA",
                "&cursor=%2A", "&sort=nope",
            ] {
                let response = try await client.get(base + bad)
                #expect(response.status == 200, "\(bad)")
                #expect(response.body.contains("role=\"alert\""), "\(bad)")
            }
        }
        await scene.shutdown()
    }

    // MARK: Records

    @Test
    func `a record shows every type, and links to what it refers to and what refers to it`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.makeZones(["desk"])
        var place = Location(latitude: 52.5, longitude: 13.4)
        place.altitude = 34
        let fields = [
            Field(name: "bytes", value: .bytes([0xCA, 0xFE])), Field(name: "count", value: .int64(1_234_567)),
            Field(name: "ratio", value: .double(0.5)), Field(name: "due", value: .timestamp(0)),
            Field(name: "place", value: .location(place)), Field(name: "title", value: .string("Hello")),
            Field(name: "tags", value: .stringList(["a", "b"])),
            Field(name: "secret", value: .string("hidden away"), isEncrypted: true),
            Field(name: "link", value: .reference(Reference(recordName: "folder", action: .none))),
        ].sorted { $0.name < $1.name }
        try await scene.save([("folder", [])], type: "Folder", zone: "desk")
        try await scene.save([("note", fields)], zone: "desk", parent: "folder")
        try await scene.browsing { client in
            let at = "database=private&user=alice&zone=desk"
            let page = try await client.get(Self.place + "/record?\(at)&name=note").body
            for text in [
                "cafe", "1,234,567", "0.5", "2001-01-01 00:00:00", "52.500000, 13.400000", "Hello",
                "<li><bdi>a</bdi></li>", "encrypted, 11 B", "owns the private database",
            ] {
                #expect(page.contains(text), "\(text)")
            }
            #expect(!page.contains("hidden away") || page.contains("id=\"json\""))
            #expect(page.contains("zone=desk&amp;name=folder\""))
            #expect(page.contains("CKRecord(recordType: &quot;Note&quot;, recordID: recordID)"))
            let folder = try await client.get(Self.place + "/record?\(at)&name=folder").body
            #expect(folder.contains("zone=desk&amp;name=note\""))
            #expect(folder.contains("its parent, link"))
            #expect(folder.matches(of: /name=note"/).count == 1, "by its parent and by link")
            #expect(try await client.get(Self.place + "/record?\(at)&name=absent").status == 404)
            #expect(try await client.get(Self.place + "/record?\(at)").status == 400)
            #expect(try await client.get(Self.place + "/record?database=private&name=note").status == 400)
            #expect(try await client.get(Self.place + "/record?user=nobody&name=note").status == 404)
        }
        await scene.shutdown()
    }

    @Test
    func `fetch shows each name, also those that are not there`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.save([("a", [Field(name: "title", value: .string("A"))])])
        try await scene.browsing { client in
            let page = try await client.get(
                Self.place + "/records/fetch?database=private&user=alice&names=a%0D%0A%20gone%20%0A"
            ).body
            #expect(page.contains("title=A"))
            #expect(page.contains("Record not found"))
            #expect(page.matches(of: /<th scope="row"/).count == 2)
        }
        await scene.shutdown()
    }

    // MARK: Changes

    @Test
    func `changes come as they are made, and a stream goes on where it broke off`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.browsing { client in
            let page = try await client.get(
                Self.place + "/records/changes?database=private&user=alice&from=now"
            ).body
            #expect(page.contains("Nothing has changed since."))
            let match = try #require(page.firstMatch(of: /data-events="([^"]+)"/))
            let path = match.1.unescaped
            let peer = try await client.peer("GET", path)
            _ = await peer.text { $0.contains(": changes") }
            try await scene.save([("<b>", [])])
            let text = await peer.text { $0.contains("\"<b>\"") }
            #expect(text.contains("\"type\":\"Note\""))
            #expect(text.contains("text/event-stream"))
            await peer.close()
            let id = try #require(text.firstMatch(of: /id: (\S+)/)).1
            try await scene.write(
                .modifyRecords(
                    ModifyRecords(
                        scope: .private,
                        saves: [],
                        deletes: [RecordID(zone: .default, recordName: "<b>")]
                    )
                ),
                by: scene.requester()
            )
            let again = try await client.peer("GET", path, ["Last-Event-ID": String(id)])
            let rest = await again.text { $0.contains("\"deletions\":[{") }
            #expect(rest.contains("\"changes\":[],\"deletions\":[{\"name\":\"<b>\""))
            await again.close()
            let bad = Self.place + "/changes/events?database=private&user=alice"
            #expect(try await client.get(bad).status == 400)
            #expect(try await client.get(bad + "&token=AAAA").status == 400)
        }
        await scene.shutdown()
    }

    @Test
    func `a snapshot says how large the zone is, and leads to its changes`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.makeZones(["desk"])
        try await scene.save((0..<250).map { ("r\($0)", []) }, zone: "desk")
        try await scene.browsing { client in
            let first = try await client.get(
                Self.place + "/records/snapshot?database=private&user=alice&zone=desk&order=creation"
            ).body
            #expect(first.contains("The zone had 250 records"))
            let next = try #require(first.firstMatch(of: /rel="next" href="([^"]+)"/))
            let second = try await client.get(next.1.unescaped).body
            #expect(second.contains("The snapshot is complete."))
            let names = [first, second].flatMap { $0.matches(of: /name=(r\d+)"/).map { String($0.1) } }
            #expect(names == (0..<250).map { "r\($0)" })
        }
        await scene.shutdown()
    }

    // MARK: Around records

    @Test
    func `zones, users, usage, schema and subscriptions are listed`() async throws {
        let scene = try ConsoleScene.withAlice()
        try await scene.makeZones(["desk", "shelf"])
        try await scene.save([("a", [Field(name: "title", value: .string("A"))])], zone: "desk")
        let subscription = Subscription(
            id: "desk-changes",
            kind: .query(
                recordType: "Note",
                predicate: .all,
                zone: ZoneID(zoneName: "desk"),
                firesOn: .events
            )
        )
        try await scene.write(
            .modifySubscriptions(ModifySubscriptions(scope: .private, saves: [subscription])),
            by: scene.requester()
        )
        try await scene.browsing { client in
            let own = "?database=private&user=alice"
            let zones = try await client.get(Self.place + "/zones" + own).body
            #expect(zones.contains(">desk<"))
            #expect(zones.contains(">shelf<"))
            let users = try await client.get(Self.place + "/users").body
            #expect(users.contains(">alice<"))
            #expect(users.contains(ConsoleScene.alice))
            #expect(try await client.get(Self.place + "/users?name=ALI").body.contains(">alice<"))
            #expect(!(try await client.get(Self.place + "/users?name=bob").body.contains(">alice<")))
            let usage = try await client.get(Self.place + "/usage").body
            #expect(usage.contains("the public database"))
            let schema = try await client.get(Self.place + "/schema").body
            #expect(schema.contains("title STRING QUERYABLE"))
            #expect(schema.contains("class=\"added\""))
            let file = try await client.get(Self.place + "/schema.ckdb")
            #expect(file.body.hasPrefix("DEFINE SCHEMA"))
            #expect(file.fields["content-disposition"] == "attachment; filename=\"development.ckdb\"")
            let subscriptions = try await client.get(Self.place + "/subscriptions" + own).body
            #expect(subscriptions.contains(">desk-changes<"))
            #expect(subscriptions.contains("creations, updates and deletions of"))
        }
        await scene.shutdown()
    }
}
