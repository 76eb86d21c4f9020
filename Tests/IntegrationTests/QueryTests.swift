import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Queries through the SDK, over TLS, against the real server.
struct QueryTests {
    /// A desk with notes: number 1 to `count`, title by number, half of them open.
    private static func run(notes count: Int, _ body: (Desk) async throws -> Void) async throws {
        try await Desk.run { desk in
            let notes = (1...count).map { number in
                desk.record(
                    "note-\(number)",
                    [
                        "number": number, "title": "Note \(number)", "isOpen": number.isMultiple(of: 2),
                        "tags": number.isMultiple(of: 3) ? ["third", "all"] : ["all"],
                        "due": Date(timeIntervalSince1970: TimeInterval(number)),
                    ]
                )
            }
            _ = try await desk.database.modifyRecords(saving: notes, deleting: [])
            try await body(desk)
        }
    }

    private static func query(_ format: String, _ arguments: Any..., sortedBy key: String? = nil) -> CKQuery {
        let query = CKQuery(
            recordType: "Note",
            predicate: NSPredicate(format: format, argumentArray: arguments)
        )
        query.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return query
    }

    private static func names(
        _ page: (
            matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?
        )
    ) -> [String] {
        page.matchResults.map { $0.0.recordName }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a query sees what was acknowledged before it, in the order asked for`() async throws {
        try await Self.run(notes: 20) { desk in
            let open = Self.query("isOpen == %@ AND number > %d", true, 10, sortedBy: "number")
            let page = try await desk.database.records(matching: open, inZoneWith: desk.zone)
            #expect(Self.names(page) == [12, 14, 16, 18, 20].map { "note-\($0)" })
            #expect(page.queryCursor == nil)
            let first = try page.matchResults[0].1.get()
            #expect(first["title"] as? String == "Note 12")
            #expect(first.recordChangeTag != nil && first.recordType == "Note")

            first["isOpen"] = false
            try await desk.database.save(first)
            try await desk.database.deleteRecord(withID: desk.id("note-20"))
            try await desk.database.save(desk.record("late", ["number": 13, "isOpen": true]))
            let after = try await desk.database.records(matching: open, inZoneWith: desk.zone)
            #expect(Self.names(after) == ["late", "note-14", "note-16", "note-18"])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `pages lead through all records once, over a restart of the server, with the keys asked for`()
        async throws
    {
        try await Self.run(notes: 50) { desk in
            var names: [String] = []
            var page = try await desk.database.records(
                matching: Self.query("TRUEPREDICATE", sortedBy: "due"),
                inZoneWith: desk.zone,
                desiredKeys: ["title"],
                resultsLimit: 20
            )
            names += Self.names(page)
            try await desk.server.restart()
            while let cursor = page.queryCursor {
                page = try await desk.database.records(
                    continuingMatchFrom: cursor,
                    desiredKeys: ["title"],
                    resultsLimit: 20
                )
                names += Self.names(page)
                for (_, result) in page.matchResults { #expect(try result.get().allKeys() == ["title"]) }
            }
            #expect(names == (1...50).map { "note-\($0)" })
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a cursor is archived, and belongs to its user and its day`() async throws {
        try await Self.run(notes: 3) { desk in
            let page = try await desk.database.records(
                matching: Self.query("TRUEPREDICATE"),
                inZoneWith: desk.zone,
                resultsLimit: 1
            )
            let cursor = try #require(page.queryCursor)
            let data = try NSKeyedArchiver.archivedData(withRootObject: cursor, requiringSecureCoding: true)
            let copy = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQueryOperation.Cursor.self, from: data)
            )
            #expect(copy == cursor)
            let rest = try await desk.database.records(continuingMatchFrom: copy)
            #expect(rest.matchResults.count == 2)

            let bob = try await desk.server.container(for: "bob")
            await expect(.invalidArguments) {
                _ = try await bob.privateCloudDatabase.records(continuingMatchFrom: cursor)
            }
            await expect(.invalidArguments) {
                _ = try await desk.container.publicCloudDatabase.records(continuingMatchFrom: cursor)
            }
            desk.server.clock.stop(at: Date().addingTimeInterval(25 * 60 * 60))
            let late = await thrown { _ = try await desk.database.records(continuingMatchFrom: cursor) }
            #expect(late?.code == .invalidArguments)
            #expect(late?.localizedDescription.contains("expired") == true)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an operation calls its blocks in order and ends with the cursor`() async throws {
        try await Self.run(notes: 5) { desk in
            let operation = CKQueryOperation(query: Self.query("number >= 2", sortedBy: "number"))
            operation.zoneID = desk.zone
            operation.resultsLimit = 3
            operation.database = desk.database
            let matched = Collected<String>()
            operation.recordMatchedBlock = { id, result in
                if case .success = result { matched.append(id.recordName) }
            }
            let cursor = try await withCheckedThrowingContinuation { continuation in
                operation.queryResultBlock = { continuation.resume(with: $0) }
                desk.container.privateCloudDatabase.add(operation)
            }
            #expect(matched.values == ["note-2", "note-3", "note-4"])
            let next = CKQueryOperation(cursor: try #require(cursor))
            let legacy = Collected<String>()
            next.recordFetchedBlock = { legacy.append($0.recordID.recordName) }
            let end = try await withCheckedThrowingContinuation { continuation in
                next.queryCompletionBlock = { cursor, error in
                    continuation.resume(with: error.map { .failure($0) } ?? .success(cursor))
                }
                desk.database.add(next)
            }
            #expect(legacy.values == ["note-5"] && end == nil)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `lists, words, OR and counts find what they say, in one zone and in all`() async throws {
        try await Self.run(notes: 12) { desk in
            let other = try await desk.database.save(CKRecordZone(zoneName: "other")).zoneID
            let far = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "far", zoneID: other))
            far["title"] = "Étude for Note 3"
            far["tags"] = ["third"]
            try await desk.database.save(far)

            let thirds = try await desk.database.records(matching: Self.query("tags CONTAINS %@", "third"))
            #expect(Set(Self.names(thirds)) == ["note-3", "note-6", "note-9", "note-12", "far"])
            let words = try await desk.database.records(matching: Self.query("self CONTAINS %@", "etude the"))
            #expect(Self.names(words) == ["far"])
            let either = try await desk.database.records(
                matching: Self.query("number == 1 OR title BEGINSWITH 'Note 11'")
            )
            #expect(Set(Self.names(either)) == ["note-1", "note-11"])
            #expect(try await desk.database.recordCount(matching: Self.query("TRUEPREDICATE")) == 13)
            let closed = Self.query("isOpen == NO")
            #expect(try await desk.database.recordCount(matching: closed, inZoneWith: desk.zone) == 6)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `records of the current user are found by CloudKit's name for him`() async throws {
        try await TestServer.runOnChosenEngine { server in
            for name in ["alice", "bob"] {
                let database = try await server.container(for: name).publicCloudDatabase
                try await database.save(CKRecord(recordType: "Post", recordID: CKRecord.ID(recordName: name)))
            }
            let schema = """
                DEFINE SCHEMA RECORD TYPE Post (
                    "___recordID" REFERENCE QUERYABLE, "___createdBy" REFERENCE QUERYABLE,
                    GRANT READ TO "_world", GRANT CREATE TO "_icloud", GRANT WRITE TO "_creator"
                );
                """
            try await server.importSchema(schema)
            let me = CKRecord.Reference(
                recordID: CKRecord.ID(recordName: CKCurrentUserDefaultName),
                action: .none
            )
            let query = CKQuery(
                recordType: "Post",
                predicate: NSPredicate(format: "creatorUserRecordID == %@", me)
            )
            let bob = try await server.container(for: "bob").publicCloudDatabase
            #expect(Self.names(try await bob.records(matching: query)) == ["bob"])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a client that was built for another schema is told all that is missing, until it is there`()
        async throws
    {
        let schema = """
            DEFINE SCHEMA RECORD TYPE Post (
                title STRING QUERYABLE SORTABLE, "___recordID" REFERENCE QUERYABLE, GRANT READ TO "_world"
            );
            """
        try await TestServer.runOnChosenEngine { server in
            let container = try await server.container(for: "alice", schema: schema)
            let database = container.privateCloudDatabase
            let error = await thrown { _ = try await database.allRecordZones() }
            #expect(error?.code == .incompatibleVersion)
            #expect(error?.localizedDescription.contains("Post") == true)
            try await server.importSchema(schema)
            #expect(try await database.allRecordZones().count == 1)

            let broken = try await server.container(for: "bob", schema: "DEFINE NOTHING")
            let text = await thrown { _ = try await broken.privateCloudDatabase.allRecordZones() }
            #expect(text?.code == .invalidArguments)
            #expect(text?.localizedDescription.contains("line 1, column 8") == true)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `what cannot be asked is refused by name`() async throws {
        try await Self.run(notes: 1) { desk in
            func message(_ query: CKQuery) async -> (CKError.Code?, String) {
                let error = await thrown { _ = try await desk.database.records(matching: query) }
                return (error?.code, error?.localizedDescription ?? "")
            }
            let unknown = await message(
                CKQuery(recordType: "Nothing", predicate: NSPredicate(value: true))
            )
            #expect(unknown.0 == .unknownItem)
            #expect(unknown.1.contains("Did not find record type: Nothing"))
            let field = await message(Self.query("colour == 'red'"))
            #expect(field.0 == .invalidArguments)
            #expect(field.1.contains("'colour'"))
            let type = await message(Self.query("number == 'seven'"))
            #expect(type.0 == .invalidArguments)
            let sort = await message(Self.query("TRUEPREDICATE", sortedBy: "tags"))
            #expect(sort.0 == .invalidArguments)
            #expect(sort.1.contains("Field 'tags' is not marked sortable"))
            let users = await message(CKQuery(recordType: "Users", predicate: NSPredicate(value: true)))
            #expect(users.0 == .invalidArguments)
            let local = await message(Self.query("title LIKE 'a*'"))
            #expect(local.0 == .invalidArguments)
            #expect(local.1.contains("LIKE"))
            let zone = CKRecordZone.ID(zoneName: "none")
            await expect(.zoneNotFound) {
                _ = try await desk.database.records(matching: Self.query("number == 1"), inZoneWith: zone)
            }
        }
    }
}
