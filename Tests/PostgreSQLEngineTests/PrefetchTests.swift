import PostgreSQLCluster
import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// Reads whose rows were prefetched, remembered, or read once more.
@Suite(.timeLimit(.minutes(10)))
struct PrefetchTests {
    // MARK: Several reads in one snapshot

    @Test
    func `fetches that wait together get what each asked for`() async throws {
        let it = try await EngineUnderTest.withNotes(.postgreSQL)
        // Together they are larger than what is prefetched at once.
        let text = FieldValue.string(String(repeating: "x", count: 900_000))
        for number in 0..<8 {
            #expect(try await it.modify([save("large\(number)", ["text": text])]).areSaved)
        }
        #expect(try await it.modify((0..<100).map { save("r\($0)", ["n": .int64(Int64($0))]) }).areSaved)
        let nowhere = ZoneID(zoneName: "nowhere")
        for _ in 0..<3 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let ids = [id("r\(number)"), id("absent\(number)"), id("large\(number % 8)")]
                        let found = try await it.fetch(number % 5 == 0 ? ids : Array(ids.prefix(2)))
                        #expect(found[0].record?.id == ids[0])
                        #expect(found[0].record?.body.fields.map(\.value) == [.int64(Int64(number))])
                        #expect(found[1] == .failed(.recordMissing))
                        if number % 5 == 0 { #expect(found[2].record?.id == ids[2]) }
                    }
                    group.addTask {
                        let found = try await it.fetch([id("r\(number)", in: nowhere), id("zero\0byte")])
                        #expect(found[0] == .failed(.zoneMissing))
                        #expect(found[1].record == nil)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    // MARK: Zones that are remembered

    @Test
    func `a zone that another server made anew is not taken for the old one`() async throws {
        let it = try await EngineUnderTest.withNotes(.postgreSQL)
        let other = try it.beside()
        let query = QueryRead(query: Query(recordType: "Note"))
        func names() async throws -> [[String]] {
            let found = try await it.query(query).records.map(\.id.recordName)
            let fed = try await it.changes(FeedRead(zone: notes)).items.compactMap(\.record?.id.recordName)
            let fetched = try await it.fetch([id("old"), id("new")]).compactMap(\.record?.id.recordName)
            return [found, fed, fetched]
        }
        #expect(try await it.modify([save("old")]).areSaved)
        let token = try await it.changes(FeedRead(zone: notes)).token
        for _ in 0..<8 { #expect(try await names() == [["old"], ["old"], ["old"]]) }
        _ = try await other.modifyZones([], deletes: ["notes"])
        _ = try await other.modifyZones(["notes"])
        #expect(try await other.modify([save("new")]).areSaved)
        for _ in 0..<8 {
            #expect(try await names() == [["new"], ["new"], ["new"]])
            await #expect(throws: StoreError.changeTokenExpired) {
                try await it.changes(FeedRead(zone: notes, token: token))
            }
        }
    }

    // MARK: Record types that are remembered

    @Test
    func `a type to which another server added a field is not taken for the old one`() async throws {
        let it = try await EngineUnderTest.withNotes(.postgreSQL)
        let other = try it.beside()
        #expect(try await it.modify([save("old", ["n": .int64(1)])]).areSaved)
        let predicate = NumberedNotes.equals("later", .int64(2))
        let query = QueryRead(query: Query(recordType: "Note", predicate: predicate), zone: notes)
        // The refusal needs no statement, so nothing but the end of the read finds out what is true.
        for _ in 0..<8 {
            await #expect(throws: StoreError.fieldUnknown(field: "later")) { try await it.query(query) }
        }
        #expect(try await other.modify([save("new", ["later": .int64(2)])]).areSaved)
        for _ in 0..<8 {
            #expect(try await it.query(query).records.map(\.id.recordName) == ["new"])
        }
    }

    // MARK: Lists with their records

    @Test
    func `a page of a query has the records that did not fit beside their entries`() async throws {
        let it = try await EngineUnderTest.withNotes(.postgreSQL)
        let text = FieldValue.string(String(repeating: "x", count: 900_000))
        let names = (0..<9).map { "r\($0)" }
        for (number, name) in names.enumerated() {
            // Small ones follow large ones.
            let fields: [String: FieldValue] = [
                "kind": .int64(1), "n": .int64(Int64(number)), "text": number % 3 == 2 ? .string("") : text,
            ]
            #expect(try await it.modify([save(name, fields)]).areSaved)
        }
        let kind = NumberedNotes.equals("kind", .int64(1))
        func found(_ query: Query) async throws -> [String] {
            var read = QueryRead(query: query, zone: notes, limit: 7)
            var names: [String] = []
            repeat {
                let page = try await it.query(read)
                names += page.records.map(\.id.recordName)
                #expect(page.records.allSatisfy { $0.body.fields.count == 3 })
                read.resume = page.resume
            } while read.resume != nil
            return names
        }
        let (up, down) = (SortKey(field: "n"), SortKey(field: "n", isAscending: false))
        #expect(try await found(Query(recordType: "Note", predicate: kind)) == names)
        #expect(try await found(Query(recordType: "Note", sort: [up])) == names)
        #expect(try await found(Query(recordType: "Note", sort: [down])) == names.reversed())
        #expect(try await found(Query(recordType: "Note", predicate: kind, sort: [down])) == names.reversed())
    }

    // MARK: Reads that begin anew

    @Test(arguments: [RoundTripProxy.Point.before, .insideReply, .behindReply])
    func `a page whose connection is cut has each record once`(point: RoundTripProxy.Point) async throws {
        let directory = try TemporaryDirectory()
        let cluster = try PostgreSQLCluster.running()
        let proxy = try RoundTripProxy(to: cluster.folder, in: directory.path)
        defer { proxy.close() }
        let it = try await EngineUnderTest.withNotes(behind: proxy)
        let begin = try await it.changes(FeedRead(zone: notes)).token
        for piece in 0..<2 {
            let saves = (0..<200).map { save("r\(1_000 + 200 * piece + $0)", ["n": .int64(1)]) }
            #expect(try await it.modify(saves).areSaved)
        }
        let all = (1_000..<1_400).map { "r\($0)" }
        // Each page takes several flights: the connection is lost with records of it taken.
        let pages: [(String, @Sendable () async throws -> [String])] = [
            ("feed", { try await it.changes(FeedRead(zone: notes, token: begin, limit: 400)).items.names }),
            ("beginning", { try await it.changes(FeedRead(zone: notes, limit: 400)).items.names }),
            ("fetch", { try await it.fetch(all.map { id($0) }).compactMap(\.record?.id.recordName) }),
        ]
        for (name, page) in pages {
            var cuts = 0
            for roundTrip in 1...20 {
                proxy.arm(roundTrip, point)
                // A connection that was cut behind a reply is found out by the next read.
                for _ in 0..<5 {
                    guard let found = try? await page() else { continue }
                    #expect(found == all, "\(name), roundTrip \(roundTrip)")
                    break
                }
                guard proxy.disarm() else { break }
                cuts += 1
            }
            #expect(cuts > 0, "\(name)")
        }
        await it.store.shutdown()
    }
}

extension [FeedItem] {
    fileprivate var names: [String] { self.compactMap(\.record?.id.recordName) }
}

extension ReadOutcome {
    fileprivate var record: Record? { if case .record(let record) = self { record } else { nil } }
}

extension FeedItem {
    fileprivate var record: Record? { if case .record(let record) = self { record } else { nil } }
}
