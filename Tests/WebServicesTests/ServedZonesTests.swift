import CloudKit
import Foundation
import RecordServer
import TestSupport
import Testing

/// Zones, changes and users over HTTP, and the same store through the SDK.
@Suite(.timeLimit(.minutes(5)))
struct ServedZonesTests {
    private func container(_ server: WebServer) -> CKContainer {
        CKContainer(
            identifier: WebServer.container,
            connection: CKServerConnection(
                url: "tidemark://127.0.0.1:\(server.process.port)",
                token: server.alice,
                certificateAuthority: .file(server.process.authorityPath)
            )
        )
    }

    private func makeZone(_ name: String, _ server: WebServer) async throws {
        let reply = try await server.send(
            "zones/modify",
            in: "private",
            #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"\#(name)"}}}]}"#,
            as: .user
        )
        #expect(reply.status == 200, "\(reply.text)")
    }

    @Test
    func `zones are made, listed, looked up and deleted`() async throws {
        try await WebServer.run { server in
            try await self.makeZone("A", server)
            let list = try await server.send("zones/list", in: "private", as: .user)
            let zones = list.json["zones"].array
            #expect(Set(zones.map { $0["zoneID"]["zoneName"].string }) == ["_defaultZone", "A"])
            #expect(zones.first { $0["zoneID"]["zoneName"].string == "A" }?["atomic"] == .bool(true))
            let me = try await server.send("users/current", in: "public", as: .user)
            let user = me.json["userRecordName"].string
            #expect(me.json["users"][0]["userRecordName"].string == user)
            #expect(zones[0]["zoneID"]["ownerRecordName"].string == user)
            let lookup = try await server.send(
                "zones/lookup",
                in: "private",
                #"{"zones":[{"zoneName":"A","ownerRecordName":"\#(user)"},{"zoneName":"B"}]}"#,
                as: .user
            )
            #expect(lookup.json["zones"][0]["zoneID"]["zoneType"].string == "REGULAR_CUSTOM_ZONE")
            #expect(lookup.json["zones"][1]["serverErrorCode"].string == "ZONE_NOT_FOUND")
            let deleted = try await server.send(
                "zones/modify",
                in: "private",
                #"{"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"A"}}}]}"#,
                as: .user
            )
            #expect(deleted.json["zones"][0]["deleted"] == .bool(true))
            let public_ = try await server.send("zones/list", in: "public", as: .nobody)
            #expect(public_.json["zones"][0]["zoneID"]["ownerRecordName"] == .null)
        }
    }

    @Test
    func `who asks decides what is served`() async throws {
        try await WebServer.run { server in
            let create = #"{"operations":[\#(WebServer.operation("create", "x"))]}"#
            let rows: [(String, String, String, WebServer.Sender, UInt, String)] = [
                ("records/modify", "public", create, .nobody, 421, "AUTHENTICATION_REQUIRED"),
                ("zones/list", "private", "{}", .nobody, 421, "AUTHENTICATION_REQUIRED"),
                ("users/current", "public", "{}", .nobody, 421, "AUTHENTICATION_REQUIRED"),
                ("users/current", "public", "{}", .service, 403, "ACCESS_DENIED"),
                ("zones/list", "private", "{}", .service, 403, "ACCESS_DENIED"),
                ("zones/list", "shared", "{}", .service, 403, "ACCESS_DENIED"),
                ("zones/list", "private", "{}", .serviceForAlice, 200, ""),
                ("zones/list", "shared", "{}", .user, 200, ""),
                ("zones/list", "public", "{}", .nobody, 200, ""),
            ]
            for (endpoint, scope, body, sender, status, code) in rows {
                let reply = try await server.send(endpoint, in: scope, body, as: sender)
                #expect(
                    reply.status == Int(status) && reply.code == code,
                    "\(endpoint) \(scope): \(reply.text)"
                )
            }
            // A key that is revoked, or of another container, is as good as none.
            let target = WebServer.path("zones/list", in: "public")
            let elsewhere = target.replacingOccurrences(of: WebServer.container, with: "iCloud.other")
            let cases: [(String, [String], Int)] = [
                (target, ["Authorization: Bearer tmk_wrong"], 401),
                (target, ["Authorization: Bearer not.a.token"], 401),
                (target, ["Authorization: Basic x"], 401),
                (target + "?ckWebAuthToken=x", [], 421), (target + "?ckAPIToken=x", [], 200),
                (target + "?ckAPIToken=x", try server.signature(of: target + "?ckAPIToken=x", body: ""), 401),
                (target, ["X-Apple-CloudKit-Request-KeyID: \(server.service.keyID)"], 401),
                (target, try server.signature(of: target + "/", body: ""), 401),
                (target, try server.signature(of: target, body: ""), 200),
                (target + "?onBehalfOf=alice", try server.signature(of: target, body: ""), 401),
                (elsewhere, [], 403), (elsewhere, try server.signature(of: elsewhere, body: ""), 403),
                (target, ["Origin: https://example.org"], 403),
            ]
            for (target, fields, status) in cases {
                let peer = HTTPPeer(port: server.webPort)
                let lines = ["GET \(target) HTTP/1.1", "Host: localhost"] + fields
                peer.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
                let reply = try #require(await peer.receive())
                #expect(reply.status == status, "\(target) \(fields): \(reply.text)")
            }
        }
    }

    @Test
    func `changes follow each other, and tokens are those of the SDK`() async throws {
        try await WebServer.run { server in
            try await self.makeZone("A", server)
            _ = try await server.modify(
                (0..<5).map { WebServer.operation("create", "r\($0)") },
                in: "private",
                zone: "A",
                as: .user
            )
            var names: [String] = []
            var token = ""
            var isMore = true
            while isMore, names.count < 10 {
                let position = token.isEmpty ? "" : #","syncToken":"\#(token)""#
                let page = try await server.send(
                    "changes/zone",
                    in: "private",
                    #"{"zones":[{"zoneID":{"zoneName":"A"}\#(position)}],"resultsLimit":2}"#,
                    as: .user
                )
                let zone = page.json["zones"][0]
                #expect(zone["records"].array.count <= 2, "\(page.text)")
                names += zone["records"].array.map { $0["recordName"].string }
                token = zone["syncToken"].string
                isMore = zone["moreComing"] == .bool(true)
            }
            #expect(names.sorted() == (0..<5).map { "r\($0)" })
            // What one side deletes, the other learns by the same token.
            let database = self.container(server).privateCloudDatabase
            let zoneID = CKRecordZone.ID(zoneName: "A")
            _ = try await database.deleteRecord(withID: CKRecord.ID(recordName: "r3", zoneID: zoneID))
            let next = try await server.send(
                "records/changes",
                in: "private",
                #"{"zoneID":{"zoneName":"A"},"syncToken":"\#(token)"}"#,
                as: .user
            )
            #expect(next.json["records"].array.count == 1)
            #expect(next.json["records"][0]["recordName"].string == "r3")
            #expect(next.json["records"][0]["deleted"] == .bool(true))
            #expect(next.json["records"][0]["recordType"] == .null)
            try await self.checkTokens(server, token)
        }
    }

    private func checkTokens(_ server: WebServer, _ token: String) async throws {
        let all = try await server.send("changes/database", in: "private", as: .user)
        #expect(all.json["zones"].array.contains { $0["zoneID"]["zoneName"].string == "A" }, "\(all.text)")
        #expect(all.json["zones"][0]["syncToken"] == .null && all.json["moreComing"] == .bool(false))
        let later = try await server.send(
            "zones/changes",
            in: "private",
            #"{"metaSyncToken":"\#(all.json["syncToken"].string)"}"#,
            as: .user
        )
        #expect(later.json["zones"] == .array([]) && !later.json["metaSyncToken"].string.isEmpty)
        // A token of another feed, and one that no server made.
        for token in [all.json["syncToken"].string, "AAAA"] {
            let wrong = try await server.send(
                "changes/zone",
                in: "private",
                #"{"zones":[{"zoneID":{"zoneName":"A"},"syncToken":"\#(token)"},{"zoneID":{"zoneName":"no"}}]}"#,
                as: .user
            )
            #expect(wrong.status == 200)
            #expect(wrong.json["zones"][0]["serverErrorCode"].string == "BAD_REQUEST")
            #expect(wrong.json["zones"][0]["ckErrorNumber"].number == 21)
            #expect(wrong.json["zones"][1]["serverErrorCode"].string == "ZONE_NOT_FOUND")
        }
        let other = try await server.send(
            "changes/zone",
            in: "private",
            #"{"zones":[{"zoneID":{"zoneName":"A"},"syncToken":"\#(token)","reverse":true}]}"#,
            as: .user
        )
        #expect(other.status == 400)
    }

    /// Random saves and deletes through either side: what both see afterwards is the same.
    @Test
    func `saves through the SDK and over HTTP give the same records, tags and codes`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        try await WebServer.run { server in
            try await self.makeZone("A", server)
            let database = self.container(server).privateCloudDatabase
            let zoneID = CKRecordZone.ID(zoneName: "A")
            var tags: [String: String] = [:]
            for step in 0..<60 {
                let name = "r\(Int.random(in: 0..<6, using: &generator))"
                let id = CKRecord.ID(recordName: name, zoneID: zoneID)
                let isStale = Int.random(in: 0..<4, using: &generator) == 0
                let tag = isStale ? "zz" : tags[name] ?? "zz"
                let fields = #"{"n":{"value":\#(step)},"t":{"value":"s\#(step)"}}"#
                let kind = ["create", "update", "forceUpdate", "delete", "sdk"].randomElement(
                    using: &generator
                )!
                if kind == "sdk" {
                    let record =
                        (try? await database.record(for: id)) ?? CKRecord(recordType: "Note", recordID: id)
                    record["n"] = step
                    record["t"] = "s\(step)"
                    tags[name] = try await database.save(record).recordChangeTag
                } else {
                    let result = try await server.modify(
                        [WebServer.operation(kind, name, tag: tag, fields)],
                        in: "private",
                        zone: "A",
                        as: .user
                    )[0]
                    let expected = Self.code(
                        of: kind,
                        isThere: tags[name] != nil,
                        isCurrent: tag == tags[name]
                    )
                    #expect(result["serverErrorCode"].string == expected, "\(step) \(kind) \(name)")
                    if expected.isEmpty {
                        tags[name] = kind == "delete" ? nil : result["recordChangeTag"].string
                    }
                }
                try await self.compare(id, tags[name], server, database)
            }
        }
    }

    private static func code(of kind: String, isThere: Bool, isCurrent: Bool) -> String {
        switch kind {
        case "create": isThere ? "CONFLICT" : ""
        case "update", "delete": !isThere ? "NOT_FOUND" : isCurrent ? "" : "CONFLICT"
        default: ""
        }
    }

    private func compare(
        _ id: CKRecord.ID,
        _ tag: String?,
        _ server: WebServer,
        _ database: CKDatabase
    ) async throws {
        let reply = try await server.send(
            "records/lookup",
            in: "private",
            #"{"records":[{"recordName":"\#(id.recordName)"}],"zoneID":{"zoneName":"A"}}"#,
            as: .user
        )
        let web = reply.json["records"][0]
        do {
            let record = try await database.record(for: id)
            #expect(web["recordChangeTag"].string == record.recordChangeTag && tag == record.recordChangeTag)
            #expect(web["fields"]["n"]["value"].number == record["n"] as? Double)
            #expect(web["fields"]["t"]["value"].string == record["t"] as? String)
            let created = (record.creationDate?.timeIntervalSince1970 ?? 0) * 1_000
            #expect(web["created"]["timestamp"].number == created.rounded())
            #expect(web["created"]["userRecordName"].string.hasPrefix("_"))
        } catch let error as CKError {
            #expect(error.code == .unknownItem && tag == nil)
            #expect(web["serverErrorCode"].string == "NOT_FOUND")
        }
    }
}
