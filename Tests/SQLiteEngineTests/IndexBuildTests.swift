import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance

/// Indexes that are made when there are records already.
@Suite(.timeLimit(.minutes(10)))
struct IndexBuildTests {
    private final class Events: Sendable {
        let value = Mutex<[EngineEvent]>([])
    }

    /// Sends a save whose reply holds the writer, so that nothing happens between it and what the
    /// test looks at.
    private static func hold(_ it: EngineUnderTest, _ save: RecordSave) -> (held: Gate, release: Gate) {
        let (held, release) = (Gate(), Gate())
        it.send([save]) { _ in
            held.open()
            release.wait()
        }
        return (held, release)
    }

    @Test
    func `an index is filled in pieces between requests, and what is done is on disk`() async throws {
        let events = Events()
        let it = try EngineUnderTest(.sqlite, report: { event in events.value.withLock { $0.append(event) } })
        let other = OtherProcess(folder: it.folder)
        _ = try await it.modifyZones(["notes"])
        _ = try await it.modify(
            (0..<150).map { save("r\($0)", ["n": .int64(Int64($0)), "s": .string("a \($0)")]) }
        )
        _ = try await it.modify((0..<350).map { save("f\($0)", type: "Foreign", ["n": .int64(1)]) })
        _ = try await it.modify((150..<300).map { save("r\($0)", ["n": .int64(Int64($0))]) })
        let first = Int(try await other.execute("SELECT number FROM record WHERE name = 'r0'")[0])!
        let (held, release) = Self.hold(it, save("r300", ["n": .int64(300)]))
        held.wait()
        try await other.execute(Self.renewIndexes)
        // Two more wait, so that the writer takes them before it is idle.
        let (heldToo, releaseToo) = Self.hold(it, save("r0", ["n": .int64(-1)]))
        release.open()
        heldToo.wait()
        // 100 records of the type, which are the first; the record that was saved is one of them.
        let progress = try await other.execute("SELECT DISTINCT next_record FROM index_build")
        #expect(progress == ["\(first + 100)"])
        releaseToo.open()
        while try await other.count("index_build") + other.count("index_removal") > 0 {}
        let contents = try await IndexContents(of: other)
        #expect(Set(contents.present) == contents.expected)
        // The reply comes after what the writer told before it.
        _ = try await it.modify([save("last")])
        #expect(
            events.value.withLock { $0 } == [
                .indexesIncomplete(indexes: 2), .indexesBuilt(indexes: 2, records: 301),
            ]
        )
    }

    @Test
    func `a build adds no entries to a zone that is being swept`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let other = OtherProcess(folder: it.folder)
        for batch in 0..<3 {
            let names = (0..<400).map { "r\(batch)-\($0)" }
            _ = try await it.modify(names.map { save($0, ["n": .int64(1), "s": .string("a")]) })
        }
        let (held, release) = Self.hold(it, save("last"))
        held.wait()
        try await other.execute(Self.renewIndexes)
        // It waits, so that the writer takes it before it has time to build.
        let deleted = Gate()
        let deletion = ModifyZones(scope: .private, saves: [], deletes: [ZoneID(zoneName: "notes")])
        it.store.write(it.request(.modifyZones(deletion))) { _ in deleted.open() }
        release.open()
        deleted.wait()
        while try await other.count("index_build") + other.count("index_removal") > 0 {}
        try await it.swept()
        #expect(try await other.count("index_entry") == 0)
        #expect(try await it.wrongCounters() == [])
    }

    @Test
    func `a build goes on where it was when the engine is opened again`() async throws {
        var it = try await EngineUnderTest.withNotes(.sqlite)
        let other = OtherProcess(folder: it.folder)
        _ = try await it.modify(
            (0..<300).map { save("r\($0)", ["n": .int64(Int64($0)), "s": .string("a")]) }
        )
        await it.store.shutdown()
        try await other.execute(
            Self.renewIndexes + [
                // As if records below it were done: their entries are missing, and stay so.
                "UPDATE index_build SET next_record = (SELECT number FROM record WHERE name = 'r200')",
                "DELETE FROM index_entry WHERE key_part(key, 2) IN (SELECT index_number FROM index_build)",
            ]
        )
        it = try await it.reopened()
        while try await other.count("index_build") > 0 {}
        let contents = try await IndexContents(of: other)
        #expect(contents.expected.subtracting(contents.present).count == 400)
    }

    @Test
    func `of saves of one record in one transaction the last one counts`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        _ = try await it.modify([save("a", ["n": .int64(0)])])
        // Forth and back, so that an entry goes that had come, and comes that had gone.
        let numbers: [Int64] = [1, 0, 2, 0, 1, 3, 1]
        let requests = numbers.map { [save("a", ["n": .int64($0)]), save("b", ["n": .int64($0)])] }
        for outcome in await it.together(requests, policy: .changedKeys) {
            #expect(try outcome.get().areSaved)
        }
        let contents = try await IndexContents(of: OtherProcess(folder: it.folder))
        #expect(Set(contents.present) == contents.expected)
    }

    @Test
    func `a request may have more entries than are kept in memory`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite) { $0.bounds.requestEntriesMax = 40_000 }
        let list = FieldValue.int64List((0..<100).map { $0 })
        _ = try await it.modify((0..<210).map { save("r\($0)", ["l": list]) })
        let contents = try await IndexContents(of: OtherProcess(folder: it.folder))
        #expect(contents.expected.count > 20_000)
        #expect(Set(contents.present) == contents.expected)
    }

    /// Gives the fields `n` and the full text of `Note` new indexes in place of theirs.
    private static let renewIndexes = ["n", "___allText"].flatMap { field in
        let condition = """
            name = '\(field)' AND record_type = (SELECT number FROM record_type WHERE name = 'Note')
            """
        return [
            "INSERT INTO index_removal SELECT index_number, 0, '' FROM field WHERE \(condition)",
            "UPDATE index_counter SET last = last + 1",
            "UPDATE field SET index_number = (SELECT last FROM index_counter) WHERE \(condition)",
            "INSERT INTO index_build SELECT last, 0 FROM index_counter",
        ]
    }

    @Test
    func `a field whose index is not complete yet is not asked`() async throws {
        let it = try await NumberedNotes.engine(3, .sqlite)
        let other = OtherProcess(folder: it.folder)
        // A reply holds the writer, so that it does not build what this test takes for incomplete.
        let (held, release) = (Gate(), Gate())
        it.send([save("last")]) { _ in
            held.open()
            release.wait()
        }
        defer { release.open() }
        held.wait()
        let byNumber = Query(recordType: "Note", predicate: NumberedNotes.number(.lessThan, 2))
        let byTitle = Query(recordType: "Note", predicate: NumberedNotes.equals("title", .string("title 1")))
        try await other.execute(
            "INSERT INTO index_build SELECT index_number, 0 FROM field WHERE name = 'number'"
        )
        await #expect(throws: StoreError.indexBuilding(field: "number", retryAfterMilliseconds: 1_000)) {
            try await it.query(QueryRead(query: byNumber))
        }
        #expect(NumberedNotes.names(try await it.query(QueryRead(query: byTitle))) == ["n1001"])
    }
}
