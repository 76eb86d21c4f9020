import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// The costliest requests that the limits allow, operation by operation: none keeps a thread of the
/// engine from the requests of others for much longer than the largest ordinary request does.
///
/// Processor time is compared with processor time, of the same machine and run. For each operation
/// the test tries what its cost grows with: that is a search, and not a proof.
@Suite(.timeLimit(.minutes(10)))
struct CostliestTests {
    /// How many times as long as the largest ordinary request a turn may take.
    private static let ratioMax = 3.0

    let it: EngineUnderTest
    private let meter: TurnMeter
    /// Nanoseconds of 400 records, in all of which 20 indexed fields change.
    private let ordinary: Int64

    init() async throws {
        let meter = TurnMeter()
        self.meter = meter
        self.it = try await EngineUnderTest.withNotes(.sqlite) { $0.turns = meter }
        _ = try await self.it.modify(Self.records(400, fields: 20, value: 1))
        _ = meter.takeLongest()
        _ = try await self.it.modify(Self.records(400, fields: 20, value: 2), policy: .changedKeys)
        self.ordinary = meter.takeLongest()
    }

    /// Operations whose costs are sought together.
    enum Group: String, CaseIterable {
        case saves, deletes, shares, zones, manyZones, subscriptions, urls, assets, records, schemas

        /// The names in the registry.
        var operations: [String] {
            switch self {
            case .saves, .deletes, .shares: ["modify_records"]
            case .zones: ["modify_zones"]
            case .manyZones: ["fetch_zones", "fetch_database_changes", "fetch_token"]
            case .subscriptions: ["modify_subscriptions", "fetch_subscriptions", "listen", "explain_record"]
            case .urls:
                ["accept_shares", "request_share_access", "fetch_share_metadata", "fetch_share_participants"]
            case .assets: ["upload_assets", "download_assets"]
            case .records: ["fetch_records", "fetch_changes", "query_records"]
            // Has threads of its own, where each client has one at a time.
            case .schemas: ["check_schema"]
            }
        }
    }

    @Test func `every operation is in a group`() throws {
        let registry = try #require(try ProtocolFiles.json("registry.json") as? [String: Any])
        let operations = try #require(registry["operations"] as? [[String: Any]])
        let names = operations.compactMap { $0["name"] as? String }
        #expect(Set(names) == Set(Group.allCases.flatMap(\.operations)))
    }

    @Test(arguments: Group.allCases)
    func `no request keeps a thread for long`(group: Group) async throws {
        switch group {
        case .saves: try await self.searchSaves()
        case .deletes: try await self.searchDeletes()
        case .shares: try await self.searchShares()
        case .zones: try await self.searchZones()
        case .manyZones: try await self.searchManyZones()
        case .subscriptions: try await self.searchSubscriptions()
        case .urls: try await self.searchURLs()
        case .assets: try await self.searchAssets()
        case .records: try await self.searchRecords()
        case .schemas: break
        }
    }

    /// Expects that no turn of what a request does takes long, whether it is executed or refused.
    ///
    /// Returns what was executed; `nil` if it was refused.
    @discardableResult
    private func expectShort<Value>(
        _ request: String,
        _ execute: () async throws -> Value
    ) async throws -> Value? {
        _ = self.meter.takeLongest()
        var value: Value?
        var refusal: StoreError?
        do { value = try await execute() } catch let error as StoreError { refusal = error }
        let ratio = Double(self.meter.takeLongest()) / Double(self.ordinary)
        #expect(ratio <= Self.ratioMax, "\(request): \(refusal.map { "\($0)" } ?? "executed")")
        return value
    }

    // MARK: Records

    static func records(_ count: Int, fields: Int, value: Int64) -> [RecordSave] {
        (0..<count).map { record in
            let fields = (0..<fields).map { ("f\($0)", FieldValue.int64(value + Int64($0 * record))) }
            return save("wide\(record)", type: "Wide", Dictionary(uniqueKeysWithValues: fields))
        }
    }

    /// Lists of so many numbers together, which no other record has.
    private static func lists(_ count: Int, seed: UInt64) -> [String: FieldValue] {
        var generator = SeededGenerator(seed: seed)
        let lists = (0..<4).map { list in
            let numbers = (0..<count / 4).map { _ in Int64.random(in: 0 ... .max, using: &generator) }
            return ("l\(list)", FieldValue.int64List(numbers))
        }
        return Dictionary(uniqueKeysWithValues: lists)
    }

    private static func references(_ count: Int) -> [String: FieldValue] {
        var generator = SeededGenerator(seed: 3)
        let lists = (0..<4).map { list in
            let references = (0..<count / 4).map { _ in
                Reference(recordName: "t\(generator.next())", action: .none)
            }
            return ("r\(list)", FieldValue.referenceList(references))
        }
        return Dictionary(uniqueKeysWithValues: lists)
    }

    private static func text(_ words: Int) -> FieldValue {
        var generator = SeededGenerator(seed: 4)
        return .string(
            (0..<words).map { _ in String(generator.next() >> 34, radix: 36) }.joined(separator: " ")
        )
    }

    private func searchSaves() async throws {
        let it = self.it
        for entries in [40_000, Bounds.defaults.requestEntriesMax - 100] {
            for seed in [UInt64(1), 2] {
                try await self.expectShort("lists of \(entries) numbers, \(seed)") {
                    let lists = save("list", type: "Lists", Self.lists(entries, seed: seed))
                    _ = try await it.modify([lists], policy: .changedKeys)
                }
            }
            try await self.expectShort("\(entries) references") {
                _ = try await it.modify([save("references", type: "References", Self.references(entries))])
            }
        }
        try await self.expectShort("a text of 80,000 words") {
            _ = try await it.modify([save("text", type: "Text", ["t": Self.text(80_000)])])
        }
        try await self.expectShort("new fields") {
            let fields = Dictionary(uniqueKeysWithValues: (0..<998).map { ("f\($0)", FieldValue.int64(1)) })
            _ = try await it.modify([0, 1].map { save("new\($0)", type: "New\($0)", fields) })
        }
        for level in 0..<90 {
            let parent = level == 0 ? RecordSave.ParentChange.unchanged : .set(recordName: "p\(level - 1)")
            _ = try await it.modify([save("p\(level)", type: "Parent", parent: parent)])
        }
        try await self.expectShort("records below a deep one") {
            let children = (0..<400).map {
                save("c\($0)", type: "Parent", parent: .set(recordName: "p89"))
            }
            _ = try await it.modify(children)
        }
        try await self.expectShort("references to as many records") {
            let saves = (0..<400).map {
                save("s\($0)", type: "Referrer", ["r": reference("wide\($0)", .deleteSelf)])
            }
            _ = try await it.modify(saves)
        }
        try await self.makeLarge(100)
        try await self.expectShort("a field of as many large records as may be") {
            let saves = (0..<8).map { save("large\($0)", type: "Large", ["n": .int64(1)]) }
            _ = try await it.modify(saves, policy: .changedKeys)
        }
        try await self.expectShort("a field of many large records") {
            let saves = (0..<100).map { save("large\($0)", type: "Large", ["n": .int64(1)]) }
            _ = try await it.modify(saves, policy: .changedKeys)
        }
    }

    private func makeLarge(_ count: Int) async throws {
        let bytes = FieldValue.bytes([UInt8](repeating: 7, count: 1_000_000))
        for number in 0..<count {
            let fields = ["b": bytes, "n": FieldValue.int64(0)]
            _ = try await self.it.modify([save("large\(number)", type: "Large", fields)])
        }
    }

    private func searchDeletes() async throws {
        let it = self.it
        try await self.makeLarge(100)
        try await self.expectShort("deletes of many large records") {
            let outcomes = try await it.modify([], deletes: (0..<100).map { id("large\($0)") })
            #expect(outcomes == Array(repeating: .deleted, count: 100))
        }
        for start in stride(from: 0, to: 400, by: 100) {
            let records = Self.records(400, fields: 100, value: 3)[start..<start + 100]
            _ = try await it.modify(Array(records), policy: .changedKeys)
        }
        try await self.expectShort("deletes of many index entries") {
            let outcomes = try await it.modify([], deletes: (0..<400).map { id("wide\($0)") })
            #expect(outcomes == Array(repeating: .deleted, count: 400))
        }
        #expect(try await it.wrongCounters() == [])
    }

    private func searchShares() async throws {
        let it = self.it
        func share(_ root: String, named name: String) -> [RecordSave] {
            var changes = ShareChanges(root: root)
            changes.publicPermission = .readWrite
            return [saveOfShare(name, changes), save(root, type: "Root")]
        }
        _ = try await it.modify([save("root", type: "Root")])
        // The first tree has room in a request, and with 800 records more it has none.
        for names in [0..<19_600, 19_600..<20_400] {
            for start in stride(from: names.lowerBound, to: names.upperBound, by: 400) {
                let parent = RecordSave.ParentChange.set(recordName: "root")
                let children = (start..<start + 400).map { save("k\($0)", type: "Root", parent: parent) }
                _ = try await it.modify(children)
            }
            try await self.expectShort("a share of \(names.upperBound) records") {
                _ = try await it.modify(share("root", named: "share"), policy: .changedKeys)
            }
            try await self.expectShort("the end of it") {
                _ = try await it.modify([], deletes: [id("share")])
            }
        }
        try await self.makeShares(2_000)
        try await self.expectShort("saves beside many shares") {
            _ = try await it.modify((0..<400).map { save("beside\($0)") })
        }
        try await self.expectShort("deletes beside many shares") {
            _ = try await it.modify([], deletes: (0..<400).map { id("beside\($0)") })
        }
        try await self.expectShort("deletes of shared records") {
            _ = try await it.modify([], deletes: (0..<400).map { id("s\($0)") })
        }
        try await self.expectShort("the end of a zone with many shares") {
            _ = try await it.modifyZones([], deletes: ["notes"])
        }
    }

    /// Makes shares in the zone of most tests.
    private func makeShares(_ count: Int) async throws {
        for start in stride(from: 0, to: count, by: 200) {
            var saves: [RecordSave] = []
            for number in start..<start + 200 {
                var changes = ShareChanges(root: "s\(number)")
                changes.publicPermission = .readWrite
                saves += [save("s\(number)", type: "Root"), saveOfShare("share\(number)", changes)]
            }
            let outcomes = try await self.expectShort("shares beside \(start)") {
                try await self.it.modify(saves)
            }
            #expect(outcomes?.areSaved == true)
        }
    }

    // MARK: Zones

    private func searchZones() async throws {
        let names = (0..<400).map { "z\($0)" }
        try await self.expectShort("new zones") { _ = try await self.it.modifyZones(names) }
        try await self.expectShort("records in as many zones") {
            _ = try await self.it.modify(names.map { save("a", in: ZoneID(zoneName: $0)) })
        }
        try await self.expectShort("the end of zones") {
            _ = try await self.it.modifyZones([], deletes: names)
        }
    }

    private func searchManyZones() async throws {
        for start in stride(from: 0, to: 4_000, by: 400) {
            _ = try await self.it.modifyZones((start..<start + 400).map { "z\($0)" })
        }
        try await self.expectShort("all zones") { _ = try await self.it.zones() }
        try await self.expectShort("some zones") {
            _ = try await self.it.zones(.ids((0..<400).map { ZoneID(zoneName: "z\($0)") }))
        }
        try await self.expectShort("changes of the database") {
            _ = try await self.it.databaseChanges(DatabaseFeedRead())
        }
    }

    // MARK: Subscriptions

    private func searchSubscriptions() async throws {
        let it = self.it
        _ = try await it.modify([save("a", ["title": .string("x")])])
        func subscriptions(_ numbers: Range<Int>, comparisons: Int) -> [RecordModel.Subscription] {
            numbers.map { number in
                query("s\(number)", .or((0..<comparisons).map { isText("title", "\(number) \($0)") }))
            }
        }
        try await self.expectShort("subscriptions with many comparisons") {
            _ = try await it.modifySubscriptions(subscriptions(0..<10, comparisons: 400))
        }
        for start in stride(from: 10, to: 8_010, by: 400) {
            let some = subscriptions(start..<start + 400, comparisons: 10)
            try await self.expectShort("subscriptions beside \(start)") {
                _ = try await it.modifySubscriptions(some)
            }
        }
        try await self.expectShort("all subscriptions") { _ = try await it.subscriptionIDs() }
        try await self.expectShort("an explanation") {
            _ = try await it.explanation(of: id("a"))
        }
        try await self.expectShort("the begin of listening") { _ = try await it.startWatching() }
        try await self.expectShort("a change that many subscriptions watch") {
            _ = try await it.modify((0..<400).map { save("w\($0)", ["title": .string("x")]) })
        }
        try await self.expectShort("deletes of subscriptions") {
            _ = try await it.modifySubscriptions([], deletes: (10..<410).map { "s\($0)" })
        }
    }

    // MARK: URLs

    private func searchURLs() async throws {
        let it = self.it
        try await self.makeShares(1_000)
        var tokens: [String] = []
        for number in 0..<400 {
            tokens.append(try #require(try await it.share(named: "share\(number)")).token)
        }
        try await self.expectShort("where URLs lead") {
            let fetch = FetchShareMetadata(tokens: tokens, wantsRootRecords: true)
            let result = await withCheckedContinuation { continuation in
                it.store.fetchShareMetadata(fetch, container: EngineUnderTest.container, for: it.bobShared) {
                    continuation.resume(returning: $0)
                }
            }
            _ = try result.get()
        }
        try await self.expectShort("people to invite") {
            let lookups = (0..<400).map { IdentityLookup.emailAddress("\($0)@example.org") }
            let result = await withCheckedContinuation { continuation in
                it.store.fetchShareParticipants(lookups, for: it.privately) {
                    continuation.resume(returning: $0)
                }
            }
            _ = try result.get()
        }
        try await self.expectShort("requests for access") {
            _ = try await it.write(.requestShareAccess(RequestShareAccess(tokens: tokens)), by: it.bobShared)
                .get()
        }
        try await self.expectShort("joining") {
            _ = try await it.write(.acceptShares(AcceptShares(tokens: tokens)), by: it.bobShared).get()
        }
    }

    // MARK: Assets

    private func searchAssets() async throws {
        let it = self.it
        let assets = (0..<400).map { file($0) }
        try await self.expectShort("begins of uploads") { _ = try await it.begin(assets) }
        for asset in assets { try await it.upload(asset) }
        try await self.expectShort("a record of many assets") {
            let outcomes = try await it.modify([save("a", ["files": .assetList(assets)])])
            #expect(outcomes.areSaved)
        }
        try await self.expectShort("where files are") { _ = try await it.locate(assets, of: id("a")) }
    }

    // MARK: Reads

    private func searchRecords() async throws {
        let it = self.it
        try await self.makeLarge(200)
        try await self.expectShort("large records without fields") {
            _ = try await it.fetch((0..<200).map { id("large\($0)") }, desiredKeys: [])
        }
        try await self.expectShort("large records") {
            _ = try await it.fetch((0..<200).map { id("large\($0)") })
        }
        try await self.expectShort("a feed of large records without fields") {
            _ = try await it.changes(FeedRead(zone: notes, desiredKeys: []))
        }
        let other = Comparison(field: "n", comparator: .notEquals, operand: .int64(5))
        try await self.expectShort("a query of large records") {
            let query = Query(recordType: "Large", predicate: .comparison(other))
            _ = try await it.query(QueryRead(query: query, isCount: true))
        }
        for start in stride(from: 0, to: 24_000, by: 400) {
            let saves = (start..<start + 400).map {
                save("q\($0)", type: "Many", ["n": .int64(Int64($0)), "m": .int64(Int64($0 % 7))])
            }
            _ = try await it.modify(saves)
        }
        let many = RecordModel.Predicate.and(
            (0..<20).map {
                .comparison(Comparison(field: "n", comparator: .notEquals, operand: .int64(Int64(-1 - $0))))
            }
        )
        try await self.expectShort("a query of many comparisons") {
            let query = Query(recordType: "Many", predicate: many)
            _ = try await it.query(QueryRead(query: query, isCount: true))
        }
        try await self.expectShort("a query of an order that no index gives") {
            let sort = [SortKey(field: "m"), SortKey(field: "n", isAscending: false)]
            let query = Query(recordType: "Many", predicate: many, sort: sort)
            _ = try await it.query(QueryRead(query: query))
        }
        try await self.expectShort("a feed") { _ = try await it.changes(FeedRead(zone: notes)) }
    }
}
