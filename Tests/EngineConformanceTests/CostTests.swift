import RecordModel
import TestSupport
import Testing

@testable import RecordStore

/// What one request may cost all others: work that can't be cut into turns has a bound.
@Suite(.timeLimit(.minutes(5)))
struct CostTests {
    // MARK: Index entries

    @Test(arguments: EngineKind.allCases)
    func `long lists in one request are refused as a whole, and go one by one`(kind: EngineKind) async throws
    {
        let it = try await Self.engine(kind) { $0.requestEntriesMax = 100 }
        let values = [
            FieldValue.int64List((0..<60).map { $0 }),
            .stringList((0..<60).map { "word\($0)" }),
            .referenceList((0..<60).map { Reference(recordName: "r\($0)", action: .none) }),
        ]
        for (number, value) in values.enumerated() {
            let saves = ["a", "b"].map { save("\($0)\(number)", ["f\(number)": value]) }
            await #expect(throws: StoreError.tooMuchWork(.indexEntries)) { try await it.modify(saves) }
            #expect(try await it.record(saves[0].id) == nil)
            for save in saves { #expect(try await it.modify([save]).areSaved) }
        }
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `what goes with replaced and deleted values counts, unless it is one item`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.engine(kind) { $0.requestEntriesMax = 100 }
        let list = FieldValue.int64List((0..<90).map { $0 })
        let names = ["a", "b", "c"]
        for name in names { #expect(try await it.modify([save(name, ["f": list])]).areSaved) }
        let cleared = names.map { save($0, ["f": .emptyList]) }
        await #expect(throws: StoreError.tooMuchWork(.indexEntries)) {
            try await it.modify(cleared, policy: .changedKeys)
        }
        await #expect(throws: StoreError.tooMuchWork(.indexEntries)) {
            try await it.modify([], deletes: names.map { id($0) })
        }
        let other = FieldValue.int64List((100..<190).map { $0 })
        #expect(try await it.modify([save("a", ["f": other])], policy: .changedKeys).areSaved)
        for name in names { #expect(try await it.modify([], deletes: [id(name)]) == [.deleted]) }
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `four words of text count as one entry, and values without an index as none`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.engine(kind) { $0.requestEntriesMax = 100 }
        func text(_ count: Int) -> FieldValue {
            .string((0..<count).map { "word\($0)" }.joined(separator: " "))
        }
        #expect(try await it.modify([save("a", ["text": text(360)])]).areSaved)
        await #expect(throws: StoreError.tooMuchWork(.indexEntries)) {
            try await it.modify([save("b", ["text": text(440)])])
        }
        // Bytes, and encrypted values, have no index.
        let plain = FieldValue.bytesList((0..<200).map { [UInt8($0)] })
        #expect(try await it.modify([save("c", ["plain": plain])]).areSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `a neighbour in the same commit is saved when a request is refused for its cost`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.engine(kind) { $0.requestEntriesMax = 100 }
        let list = FieldValue.int64List((0..<200).map { $0 })
        let requests = [[save("a")], [save("dear", ["f": list])], [save("b")]].map {
            it.request(.modifyRecords(ModifyRecords(scope: .private, saves: $0)))
        }
        let results = await it.together(requests)
        #expect(try results[0].get().areSaved)
        #expect(results[1] == .failure(.tooMuchWork(.indexEntries)))
        #expect(try results[2].get().areSaved)
        #expect(try await it.record(id("dear")) == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `400 ordinary records with 20 indexed fields are saved, changed and deleted`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        func saves(_ value: Int64) -> [RecordSave] {
            let fields = Dictionary(
                uniqueKeysWithValues: (0..<20).map { ("f\($0)", FieldValue.int64(value)) }
            )
            return (0..<400).map { save("r\($0)", fields) }
        }
        #expect(try await it.modify(saves(1)).areSaved)
        #expect(try await it.modify(saves(2), policy: .changedKeys).areSaved)
        let deletes = (0..<400).map { id("r\($0)") }
        #expect(try await it.modify([], deletes: deletes).allSatisfy { $0 == .deleted })
    }

    // MARK: Definitions, comparisons

    @Test(arguments: EngineKind.allCases)
    func `fields and types that one request adds have a bound`(kind: EngineKind) async throws {
        let it = try await Self.engine(kind) { $0.requestDefinitionsMax = 20 }
        func fields(_ count: Int) -> [String: FieldValue] {
            Dictionary(uniqueKeysWithValues: (0..<count).map { ("f\($0)", .int64(1)) })
        }
        let saves = ["A", "B"].map { save("r\($0)", type: $0, fields(15)) }
        await #expect(throws: StoreError.tooMuchWork(.definitions)) { try await it.modify(saves) }
        for save in saves { #expect(try await it.modify([save]).areSaved) }
        // What is defined costs nothing.
        let more = (0..<30).map { save("more\($0)", type: "A", fields(15)) }
        #expect(try await it.modify(more).areSaved)
        // Zones of one request are counted together.
        _ = try await it.modifyZones(["other"])
        let other = ZoneID(zoneName: "other")
        await #expect(throws: StoreError.tooMuchWork(.definitions)) {
            try await it.modify([
                save("x", type: "C", fields(15)), save("y", in: other, type: "D", fields(15)),
            ])
        }
        #expect(try await it.record(id("x")) == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `comparisons of the subscriptions of one request have a bound`(kind: EngineKind) async throws {
        let it = try await Self.engine(kind) { $0.requestComparisonsMax = 20 }
        // Conditions are about fields that the type has.
        #expect(try await it.modify([save("a", ["title": .string("x")])]).areSaved)
        let saves = (0..<3).map { query("s\($0)", Self.condition($0, comparisons: 10)) }
        await #expect(throws: StoreError.tooMuchWork(.comparisons)) {
            try await it.modifySubscriptions(saves)
        }
        #expect(try await it.subscriptionIDs() == [])
        #expect(try await it.modifySubscriptions(Array(saves[..<2])).allSatisfy { $0.error == nil })
    }

    @Test(arguments: EngineKind.allCases)
    func `an explanation ends at its bound of comparisons, and says so`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        #expect(try await it.modify([save("a", ["title": .string("x")])]).areSaved)
        for start in stride(from: 10, to: 40, by: 10) {
            let saves = (start..<start + 10).map { query("s\($0)", Self.condition($0, comparisons: 400)) }
            #expect(try await it.modifySubscriptions(saves).allSatisfy { $0.error == nil })
        }
        let explained = try await ExplainTests.explanation(it, of: id("a"))
        #expect(explained.matches.map(\.subscriptionID) == (10..<35).map { "s\($0)" })
        #expect(explained.isTruncated)
        _ = try await it.modifySubscriptions([], deletes: (35..<40).map { "s\($0)" })
        #expect(try await !ExplainTests.explanation(it, of: id("a")).isTruncated)
    }

    // MARK: Every operation

    /// The limits that bound what one turn of an operation costs the thread that executes it.
    ///
    /// An operation that is added needs a row, and a limit for what its cost grows with.
    private static let turns: [String: [String]] = [
        "modify_records": [
            "request_items_max", "request_bytes_max", "request_entries_max", "request_definitions_max",
            "cascade_turn_max", "cascade_together_max",
        ],
        "fetch_records": ["request_items_max", "answer_bytes_max"],
        "modify_zones": ["request_items_max"],
        "fetch_zones": ["zones_max"],
        "query_records": ["query_reads_max", "query_comparisons_max", "query_sort_max"],
        "check_schema": ["schema_bytes_max"],
        "fetch_changes": ["feed_page_max", "answer_bytes_max"],
        "fetch_database_changes": ["feed_page_max"],
        "fetch_token": ["token_bytes_max"],
        "modify_subscriptions": ["request_items_max", "request_bytes_max", "request_comparisons_max"],
        "fetch_subscriptions": ["subscriptions_max", "answer_bytes_max"],
        "listen": ["subscriptions_max"],
        "upload_assets": ["request_items_max", "asset_data_bytes_max"],
        "download_assets": ["request_items_max", "asset_data_bytes_max"],
        "accept_shares": ["request_items_max"],
        "fetch_share_metadata": ["request_items_max", "answer_bytes_max"],
        "fetch_share_participants": ["request_items_max"],
        "request_share_access": ["request_items_max"],
        "explain_record": ["explained_max", "explained_comparisons_max"],
    ]

    @Test func `every operation has limits for the work of one turn`() throws {
        let registry = try #require(try ProtocolFiles.json("registry.json") as? [String: Any])
        func names(_ table: String) throws -> [String] {
            try #require(registry[table] as? [[String: Any]]).compactMap { $0["name"] as? String }
        }
        #expect(try Set(names("operations")) == Set(Self.turns.keys))
        let limits = try Set(names("limits"))
        for (operation, bounds) in Self.turns {
            #expect(!bounds.isEmpty, "\(operation)")
            #expect(limits.isSuperset(of: bounds), "\(operation)")
        }
    }

    // MARK: Parts

    private static func engine(
        _ kind: EngineKind,
        _ change: (inout Bounds) -> Void
    ) async throws -> EngineUnderTest {
        try await EngineUnderTest.withNotes(kind) { change(&$0.bounds) }
    }

    private static func condition(_ number: Int, comparisons: Int) -> RecordModel.Predicate {
        .or((0..<comparisons).map { isText("title", "\(number) \($0)") })
    }
}
