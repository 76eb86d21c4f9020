import CloudKit
import CloudKitTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct Queries {
    @Test
    func `a query is read page by page, and counted`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let notes = (1...205).map { number in
                let note = CKRecord(recordType: "Note")
                note["pages"] = number
                note["text"] = "Note \(number)"
                return note
            }
            let (saved, _) = try await database.modifyRecords(saving: notes, deleting: [])
            for result in saved.values { _ = try result.get() }
            // <block> Query
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "pages > %d", 2))
            query.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
            var page = try await database.records(matching: query, resultsLimit: 100)
            while true {
                for (_, result) in page.matchResults {
                    let note = try result.get()
                    print(note["text"] ?? "")
                }
                guard let cursor = page.queryCursor else { break }
                page = try await database.records(continuingMatchFrom: cursor, resultsLimit: 100)
            }
            // </block>
            #expect(page.matchResults.count == 3)
            #expect(try page.matchResults.last?.1.get()["pages"] == 3)
            // <block> Query
            let count = try await database.recordCount(matching: query)
            // </block>
            #expect(count == 203)
        }
    }

    @Test
    func `each predicate of the article finds what it promises`() async throws {
        let text = try Article.named("Queries").text
        let formats = text.matches(of: /\n\| `([^`]+)` \| (?:records|lists|texts|references|places)/)
            .flatMap { $0.1.split(separator: " OR ") }.map(String.init)
        #expect(formats.count == 6)
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let list = CKRecord(recordType: "List")
            let found = CKRecord(recordType: "Note")
            found["pages"] = 3
            found["isDone"] = 0
            found["tags"] = ["home", "garden"]
            found["name"] = "Anna"
            found["text"] = "Buy bread"
            found["list"] = CKRecord.Reference(record: list, action: .none)
            let place = CLLocation(latitude: 52.5163, longitude: 13.3777)
            found["at"] = place
            let other = CKRecord(recordType: "Note")
            other["pages"] = 1
            other["isDone"] = 1
            other["tags"] = ["work"]
            other["name"] = "Berta"
            other["text"] = "Buy wine"
            other["at"] = CLLocation(latitude: 48.8584, longitude: 2.2945)
            let (saved, _) = try await database.modifyRecords(saving: [list, found, other], deleting: [])
            for result in saved.values { _ = try result.get() }
            for format in formats {
                let argument: any CVarArg = format.contains("distance") ? place : list.recordID
                let predicate =
                    format.contains("%@")
                    ? NSPredicate(format: format, argument) : NSPredicate(format: format)
                let page = try await database.records(
                    matching: CKQuery(recordType: "Note", predicate: predicate)
                )
                #expect(page.matchResults.map { $0.0 } == [found.recordID], "\(format)")
            }
        }
    }

    /// In production nothing is learned from a save, so what is found was declared.
    @Test
    func `the schema of the article has the indexes that it promises`() async throws {
        let schema = try #require(try Article.named("Queries").blocks(in: "text").first)
        try await TestServer.run { server in
            try await server.importSchema(schema)
            try await server.deploySchema()
            let container = try await server.container(for: "alice", environment: .production)
            let database = container.privateCloudDatabase
            let note = CKRecord(recordType: "Note")
            note["pages"] = 3
            note["text"] = "Buy milk"
            try await database.save(note)
            for format in ["pages > 2", "allTokens TOKENMATCHES 'milk'"] {
                let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: format))
                query.sortDescriptors = [NSSortDescriptor(key: "modificationDate", ascending: false)]
                #expect(try await database.records(matching: query).matchResults.count == 1)
            }
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text = 'Buy milk'"))
            let error = await #expect(throws: CKError.self) { try await database.records(matching: query) }
            #expect(error?.code == .invalidArguments)
            #expect(error?.localizedDescription == "Field 'text' is not marked queryable")
        }
    }
}
