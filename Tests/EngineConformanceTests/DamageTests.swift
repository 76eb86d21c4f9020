import RecordModel
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// A disk that gives other bytes than it took: one record is lost, and nothing else.
@Suite(.timeLimit(.minutes(10)))
struct DamageTests {
    private static func engine(_ kind: EngineKind) async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(kind)
        for name in ["bad", "good"] {
            let fields: [String: FieldValue] = ["title": .string(name), "list": .int64List([1, 2, 3])]
            #expect(try await it.modify([save(name, fields)]).areSaved)
        }
        return it
    }

    @Test(arguments: StoredRows.kinds)
    func `a damaged record fails by its name, and can be deleted`(kind: EngineKind) async throws {
        let before = try await Self.engine(kind)
        try StoredRows(of: before).replaceBody(of: "bad", with: [0xFF, 0xFF, 0xFF])
        // An engine may remember what it wrote.
        let it = try await before.reopened()
        let damaged = StoreError.recordDamaged(id("bad"))
        #expect(damaged.row.code == .internalError)
        #expect(damaged.row.text.contains("bad"))
        for keys in [nil, ["title"]] {
            let found = try await it.fetch([id("bad"), id("good")], desiredKeys: keys)
            #expect(found[0] == .failed(damaged))
            #expect(try await it.record(id("good"))?["title"] == .string("good"))
            let read = FeedRead(zone: notes, desiredKeys: keys)
            await #expect(throws: damaged) { try await it.changes(read) }
        }
        let sorted = Query(recordType: "Note", sort: [SortKey(field: "title")])
        await #expect(throws: damaged) { try await it.query(QueryRead(query: sorted, zone: notes)) }
        let saved = try await it.modify(
            [save("bad", ["title": .string("x")])],
            policy: .changedKeys,
            isAtomic: false
        )
        #expect(saved[0] == .failed(damaged))
        _ = try await it.modify([], deletes: [id("bad")])
        #expect(try await it.fetch([id("bad")]) == [.failed(.recordMissing)])
        #expect(NumberedNotes.names(try await it.query(QueryRead(query: sorted, zone: notes))) == ["good"])
        #expect(try await it.modify([save("bad", ["title": .string("again")])]).areSaved)
        #expect(
            NumberedNotes.names(try await it.query(QueryRead(query: sorted, zone: notes))) == ["bad", "good"]
        )
    }

    @Test(arguments: StoredRows.kinds)
    func `no flipped bits of a body end the process`(kind: EngineKind) async throws {
        let it = try await Self.engine(kind)
        var generator = SeededGenerator.fromEnvironment()
        let whole = try #require(try await it.record(id("good"))).body.bytes
        let query = QueryRead(query: Query(recordType: "Note", sort: [SortKey(field: "title")]), zone: notes)
        for round in 0..<kind.rounds(24) {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] ^=
                    1
                    << UInt8.random(
                        in: 0..<8,
                        using: &generator
                    )
            }
            try StoredRows(of: it).replaceBody(of: "bad", with: bytes)
            _ = try? await it.query(query)
            _ = try? await it.changes(FeedRead(zone: notes))
            for outcome in try await it.fetch([id("bad")], desiredKeys: round % 2 == 0 ? nil : ["list"]) {
                if case .record(let record) = outcome { _ = record.body.fields }
            }
            _ = try? await it.modify(
                [save("bad", ["list": .int64List([4])])],
                policy: .changedKeys,
                isAtomic: false
            )
        }
        _ = try await it.modify([], deletes: [id("bad")])
        #expect(try await it.record(id("good"))?["title"] == .string("good"))
    }

    @Test(arguments: StoredRows.kinds)
    func `a delete of a damaged record leaves no entry and no reference`(kind: EngineKind) async throws {
        let before = try await Self.engine(kind)
        let fields: [String: FieldValue] = [
            "title": .string("x y"), "list": .int64List([4, 5]), "of": reference("good", .deleteSelf),
        ]
        for name in ["lost", "gone"] {
            #expect(try await before.modify([save(name, fields, parent: .set(recordName: "bad"))]).areSaved)
        }
        var it = try await StoredRows(of: before).damaging("lost")
        it = try await StoredRows(of: it).damaging("gone")
        let number = try StoredRows(of: it).execute(
            "SELECT CAST(number AS text) FROM @record WHERE name = 'lost'"
        )[0]
        let entries = "SELECT CAST(count(*) AS text) FROM @index_entry WHERE record = \(number)"
        let references = "SELECT CAST(count(*) AS text) FROM @hold WHERE holder = 'lost'"
        #expect(try StoredRows(of: it).execute(entries) != ["0"])
        #expect(try StoredRows(of: it).execute(references) == ["2"])
        #expect(try await it.modify([], deletes: [id("lost")]) == [.deleted])
        #expect(try StoredRows(of: it).execute(entries) == ["0"])
        #expect(try StoredRows(of: it).execute(references) == ["0"])
        // The other one goes with the record that its row of references names.
        #expect(try await it.modify([], deletes: [id("good")]) == [.deleted])
        #expect(try await it.fetch([id("gone")]) == [.failed(.recordMissing)])
        #expect(try StoredRows(of: it).execute("SELECT CAST(count(*) AS text) FROM @hold") == ["0"])
        #expect(try await it.modify([], deletes: [id("bad")]) == [.deleted])
        #expect(try await it.wrongCounters() == [])
        #expect(try await it.modify([save("lost", fields.filter { $0.key != "of" })]).areSaved)
    }

    @Test(arguments: StoredRows.kinds)
    func `whoever follows a feed or a query gets past a damaged record`(kind: EngineKind) async throws {
        let before = try await Self.engine(kind)
        #expect(try await before.modify([save("last", ["title": .string("bad")])]).areSaved)
        let it = try await StoredRows(of: before).damaging("bad")
        for keys in [nil, [], ["title"]] as [[String]?] {
            let sink = PassedRecords()
            let end = try await sink.page(FeedRead(zone: notes, desiredKeys: keys), of: it)
            #expect(sink.words == ["bad!", "good", "last"])
            #expect(!end.moreComing)
            let sorts = [
                Query(recordType: "Note"), Query(recordType: "Note", sort: [SortKey(field: "title")]),
                Query(recordType: "Note", predicate: isText("title", "bad")),
            ]
            for (number, query) in sorts.enumerated() {
                var names: [String] = []
                var read = QueryRead(query: query, zone: notes, desiredKeys: keys, limit: 1)
                repeat {
                    let sink = PassedRecords()
                    read.resume = try await sink.page(read, of: it).resume
                    names += sink.words
                } while read.resume != nil
                #expect(
                    Set(names) == (number == 2 ? ["bad!", "last"] : ["bad!", "good", "last"]),
                    "\(query)"
                )
            }
        }
        // Once it is gone, or there again, the feed says so.
        let token = try await PassedRecords().page(FeedRead(zone: notes), of: it).token
        _ = try await it.modify([], deletes: [id("bad")])
        #expect(try await it.all(after: token).items == ["-bad"])
        #expect(try await it.modify([save("bad", ["title": .string("again")])]).areSaved)
        #expect(try await it.all(after: token).items == ["bad"])
    }

    @Test(arguments: StoredRows.kinds)
    func `subscriptions and explanations meet a damaged record`(kind: EngineKind) async throws {
        let before = try await Self.engine(kind)
        let asked = query("q", isText("title", "bad"), in: notes)
        _ = try await before.modifySubscriptions([asked])
        let it = try await StoredRows(of: before).damaging("bad")
        let listener = it.listener(1)
        _ = try await it.startWatching(listener)
        let reports = it.reports()
        let trial = SubscriptionTrialRead(asked, savedPosition: nil, zone: notes, limit: 10)
        let result = await withCheckedContinuation { continuation in
            it.store.tryOut(trial, for: it.privately) { continuation.resume(returning: $0) }
        }
        #expect(try result.get().lines.contains { $0.id == id("bad") })
        #expect(try await it.modify([], deletes: [id("bad")]) == [.deleted])
        #expect(try await it.modify([save("good", ["title": .string("bad")])], policy: .changedKeys).areSaved)
        #expect(reports.words() == ["-bad", "good"])
    }

    @Test(arguments: StoredRows.kinds)
    func `the build of an index names the records that it could not index whole`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.engine(kind)
        let count = try #require(try await it.record(id("bad"))).body.bytes.count
        try StoredRows(of: it).replaceBody(of: "bad", with: [UInt8](repeating: 0xFF, count: count))
        await it.store.shutdown()
        let events = Mutex<[EngineEvent]>([])
        let store = try kind.open(
            in: it.folder.path,
            clock: it.clock,
            report: { event in events.withLock { $0.append(event) } }
        )
        // Indexes that go and come again are built anew.
        for kinds in ["", "QUERYABLE"] {
            let text = "DEFINE SCHEMA RECORD TYPE Note (title STRING \(kinds), list LIST<INT64> \(kinds));"
            let schema = try SchemaParser.parse(text)
            _ = try store.schemas.apply(
                .replaceDevelopment(schema),
                inContainer: EngineUnderTest.container
            )
        }
        while try store.engine.readTables({ try $0.count(RowRange(IndexBuildRow.byKey)) }) > 0 {
            try await Task.sleep(for: .milliseconds(1))
        }
        await store.shutdown()
        let named = events.withLock { $0 }.compactMap { event in
            if case .recordNotIndexed(let record) = event { record } else { nil }
        }
        #expect(named.map(\.name) == ["bad"])
        #expect(named.first?.container == EngineUnderTest.container)
        #expect(named.first?.scope == .private)
        #expect(named.first?.zone == "notes")
        #expect(named.first?.owner == EngineUnderTest.alice)
    }
}
