import Foundation
import TestSupport
import Testing

/// Records over HTTP, against the real server.
@Suite(.timeLimit(.minutes(5)))
struct ServedRecordsTests {
    private static func note(_ title: String, _ number: Int) -> String {
        #"{"title":{"value":"\#(title)"},"n":{"value":\#(number)}}"#
    }

    @Test
    func `a service saves, looks up, queries and deletes in the public database`() async throws {
        try await WebServer.run { server in
            let created = try await server.modify(
                (0..<5).map {
                    WebServer.operation("create", "r-\($0)", Self.note("t", $0))
                }
            )
            #expect(created.map { $0["recordName"].string } == (0..<5).map { "r-\($0)" })
            #expect(created[3]["fields"]["n"]["value"].number == 3)
            #expect(created[3]["fields"]["title"]["type"].string == "STRING")
            #expect(created[3]["created"]["userRecordName"].string.hasPrefix("_"))
            #expect(created[3]["zoneID"]["ownerRecordName"] == .null)
            let tag = created[0]["recordChangeTag"].string
            #expect(!tag.isEmpty)

            let lookup = try await server.send(
                "records/lookup",
                in: "public",
                #"{"records":[{"recordName":"r-1"},{"recordName":"no"},{"recordName":"r-0","desiredKeys":["n"]}]}"#,
                as: .nobody
            )
            #expect(lookup.status == 200)
            let records = lookup.json["records"]
            #expect(records[0]["fields"].names == ["n", "title"])
            #expect(records[1]["serverErrorCode"].string == "NOT_FOUND")
            #expect(records[1]["recordName"].string == "no")
            #expect(records[2]["fields"].names == ["n"])
            #expect(records[2]["recordChangeTag"].string == tag)

            try await server.process.administer([
                "schema", "import", try Self.schema(in: server.process.folder.path), "--container",
                WebServer.container,
            ])
            try await self.followPages(server)

            let deleted = try await server.modify([WebServer.operation("forceDelete", "r-0")])
            #expect(deleted[0]["deleted"] == .bool(true) && deleted[0]["recordType"] == .null)
        }
    }

    /// Makes the fields of a note queryable.
    private static func schema(in folder: String) throws -> String {
        let path = folder + "/notes.ckdb"
        let text = """
            DEFINE SCHEMA
                RECORD TYPE Note (
                    title STRING,
                    n INT64 QUERYABLE SORTABLE,
                    GRANT READ TO "_world",
                    GRANT CREATE TO "_icloud",
                    GRANT WRITE TO "_creator"
                );
            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func followPages(_ server: WebServer) async throws {
        let query =
            #"{"recordType":"Note","filterBy":[{"fieldName":"n","comparator":"GREATER_THAN","#
            + #""fieldValue":{"value":0}}],"sortBy":[{"fieldName":"n","ascending":false}]}"#
        var found: [Double?] = []
        var marker = ""
        repeat {
            let position = marker.isEmpty ? "" : #","continuationMarker":"\#(marker)""#
            let page = try await server.send(
                "records/query",
                in: "public",
                #"{"query":\#(query),"resultsLimit":3,"desiredKeys":["n"]\#(position)}"#,
                as: .nobody
            )
            #expect(page.status == 200, "\(page.text)")
            #expect(page.json["records"].array.count <= 3)
            found += page.json["records"].array.map { $0["fields"]["n"]["value"].number }
            marker = page.json["continuationMarker"].string
        } while !marker.isEmpty && found.count < 10
        #expect(found == [4, 3, 2, 1])
        // A marker is of a database and of who asks.
        let marked = try await server.send(
            "records/query",
            in: "public",
            #"{"query":{"recordType":"Note"},"continuationMarker":"AAAA"}"#,
            as: .nobody
        )
        #expect(marked.status == 400 && marked.code == "BAD_REQUEST")
    }

    @Test
    func `the seven kinds of operation do what Apple's table says`() async throws {
        try await WebServer.run { server in
            for zone in [nil, "Notes"] as [String?] {
                let scope = zone == nil ? "public" : "private"
                let sender: WebServer.Sender = zone == nil ? .service : .serviceForAlice
                if let zone {
                    let made = try await server.send(
                        "zones/modify",
                        in: scope,
                        #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"\#(zone)"}}}]}"#,
                        as: sender
                    )
                    #expect(made.json["zones"][0]["zoneID"]["zoneName"].string == zone, "\(made.text)")
                }
                try await self.checkKinds(server) { operation in
                    try await server.modify([operation], in: scope, zone: zone, as: sender)[0]
                }
            }
        }
    }

    private func checkKinds(
        _ server: WebServer,
        _ modify: (String) async throws -> JSONValue
    ) async throws {
        func code(_ kind: String, _ name: String, tag: String? = nil) async throws -> String {
            try await modify(WebServer.operation(kind, name, tag: tag, #"{"a":{"value":1}}"#))[
                "serverErrorCode"
            ].string
        }
        let both = #"{"a":{"value":1},"b":{"value":2}}"#
        // The record is absent.
        #expect(try await code("update", "x", tag: "1") == "NOT_FOUND")
        #expect(try await code("replace", "x", tag: "1") == "NOT_FOUND")
        #expect(try await code("delete", "x", tag: "1") == "NOT_FOUND")
        #expect(try await code("forceDelete", "x") == "")
        for kind in ["update", "replace", "delete"] {
            #expect(try await code(kind, "x") == "BAD_REQUEST", "\(kind) without a tag")
        }
        let made = try await modify(WebServer.operation("create", "x", both))
        #expect(made["fields"].names == ["a", "b"])
        // A tag of any other operation is ignored.
        #expect(try await code("forceUpdate", "y", tag: "1") == "")
        #expect(try await code("forceReplace", "z", tag: "1") == "")
        // The record is present.
        #expect(try await code("create", "x") == "CONFLICT")
        for kind in ["update", "replace", "delete"] {
            let stale = try await modify(WebServer.operation(kind, "x", tag: "zz", both))
            #expect(stale["serverErrorCode"].string == "CONFLICT", "\(kind)")
            #expect(stale["serverRecord"]["recordChangeTag"] == made["recordChangeTag"], "\(kind)")
        }
        let updated = try await modify(
            WebServer.operation("update", "x", tag: made["recordChangeTag"].string, #"{"a":{"value":3}}"#)
        )
        #expect(updated["fields"]["a"]["value"].number == 3 && updated["fields"].names == ["a", "b"])
        let replaced = try await modify(
            WebServer.operation("replace", "x", tag: updated["recordChangeTag"].string, #"{"b":{"value":4}}"#)
        )
        #expect(replaced["fields"].names == ["b"])
        let forced = try await modify(WebServer.operation("forceUpdate", "x", #"{"a":{"value":5}}"#))
        #expect(forced["fields"].names == ["a", "b"])
        let last = try await modify(WebServer.operation("forceReplace", "x", #"{"a":{"value":6}}"#))
        #expect(last["fields"].names == ["a"])
        let removed = try await modify(WebServer.operation("forceUpdate", "x", #"{"a":null}"#))
        #expect(removed["fields"].names == [])
        let tag = removed["recordChangeTag"].string
        #expect(try await code("delete", "x", tag: tag) == "")
        #expect(try await code("update", "x", tag: tag) == "NOT_FOUND")
    }

    @Test
    func `items fail alone, or with their zone if it is atomic`() async throws {
        try await WebServer.run { server in
            let mixed = [
                WebServer.operation("create", "a"), WebServer.operation("delete", "a2"),
                WebServer.operation("create", "c", type: "blah blah"),
                WebServer.operation("create", "d", #"{"1x":{"value":1}}"#),
                #"{"operationType":"create","record":{"recordType":"Note"}}"#,
                WebServer.operation("create", "s", type: "cloudkit.share"),
            ]
            let results = try await server.modify(mixed)
            let codes = results.map { $0["serverErrorCode"].string }
            #expect(codes == ["", "BAD_REQUEST", "NOT_FOUND", "BAD_REQUEST", "", "BAD_REQUEST"])
            #expect(UUID(uuidString: results[4]["recordName"].string) != nil)
            // One record twice is the fault of the request.
            let twice = try await server.send(
                "records/modify",
                in: "public",
                #"{"operations":[\#(WebServer.operation("create", "e")),\#(WebServer.operation("forceDelete", "e"))]}"#,
                as: .service
            )
            #expect(twice.status == 400 && twice.code == "BAD_REQUEST")
            _ = try await server.send(
                "zones/modify",
                in: "private",
                #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Z"}}}]}"#,
                as: .user
            )
            for broken in [
                WebServer.operation("delete", "none"), WebServer.operation("delete", "none", tag: "1"),
            ] {
                let atomic = try await server.modify(
                    [WebServer.operation("create", "a"), broken],
                    in: "private",
                    zone: "Z",
                    as: .user
                )
                #expect(atomic[0]["serverErrorCode"].string == "ATOMIC_ERROR")
                #expect(["BAD_REQUEST", "NOT_FOUND"].contains(atomic[1]["serverErrorCode"].string))
            }
            let loose = try await server.modify(
                [WebServer.operation("create", "a"), WebServer.operation("delete", "none", tag: "1")],
                in: "private",
                zone: "Z",
                #","atomic":false"#,
                as: .user
            )
            #expect(loose.map { $0["serverErrorCode"].string } == ["", "NOT_FOUND"])
        }
    }

    @Test
    func `a signed change that is replayed changes nothing`() async throws {
        try await WebServer.run { server in
            let body =
                #"{"operations":[{"operationType":"create","record":{"recordType":"Note","fields":{}}}]}"#
            let request = try server.request("records/modify", in: "public", body, as: .service)
            var names: Set<String> = []
            var tags: Set<String> = []
            for _ in 0..<3 {
                let peer = HTTPPeer(port: server.webPort)
                peer.send(request)
                let reply = try #require(await peer.receive())
                #expect(reply.status == 200, "\(reply.text)")
                names.insert(reply.json["records"][0]["recordName"].string)
                tags.insert(reply.json["records"][0]["recordChangeTag"].string)
            }
            #expect(names.count == 1 && tags.count == 1)
            let late = try server.request(
                "records/modify",
                in: "public",
                body,
                as: .service,
                date: Date(timeIntervalSinceNow: -700)
            )
            let peer = HTTPPeer(port: server.webPort)
            peer.send(late)
            let reply = try #require(await peer.receive())
            #expect(reply.status == 401 && reply.code == "AUTHENTICATION_FAILED")
        }
    }
}
