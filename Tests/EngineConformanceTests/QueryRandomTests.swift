import Foundation
import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Random queries, answered by an engine and by a model.
///
/// `SEED=… swift test --filter QueryRandomTests` repeats a run.
@Suite(.timeLimit(.minutes(10)))
struct QueryRandomTests {
    private static let dataSets = 40
    private static let queriesOfEach = 500
    private static let seed: UInt64 = {
        let seed = SeededGenerator.fromEnvironment().seed
        print("SEED=\(seed)")
        return seed
    }()

    @Test(arguments: EngineKind.allCases, 0..<dataSets)
    func `an engine and a model find the same records in the same order`(
        kind: EngineKind,
        dataSet: Int
    ) async throws {
        var data = try await QueryDataSet(kind, seed: Self.seed &+ UInt64(dataSet))
        for number in 0..<kind.rounds(Self.queriesOfEach, divisor: 10) {
            let query = data.generator.query()
            let zone = data.generator.chance(1, in: 2) ? data.generator.pick(data.generator.zones) : nil
            try await data.check(query, zone: zone, "SEED=\(Self.seed), data set \(dataSet), query \(number)")
        }
    }
}

/// An engine with random records, and the model of them.
struct QueryDataSet {
    let it: EngineUnderTest
    var generator: QueryGenerator
    var model = QueryModel()

    private static let pagesMax = 5_000
    /// Records that change while a query runs: nothing is expected of them.
    private static let noise = "x"

    init(_ kind: EngineKind, seed: UInt64) async throws {
        var generator = QueryGenerator(seed: seed)
        let readsMax = generator.pick([80, 200, 1_000, 20_000])
        let comparisonsMax = generator.pick([40, 300, 500_000])
        let inline = generator.pick([0, 80, 4_096])
        let inlineComparisons = generator.pick([0, 50, 4_000])
        let counted = generator.pick([2, 10, 1_000])
        self.it = try EngineUnderTest(kind) { settings in
            settings.queryBudget.readsMax = readsMax
            settings.queryBudget.comparisonsMax = comparisonsMax
            settings.inlineQueryCostMax = inline
            settings.inlineQueryComparisonsMax = inlineComparisons
            settings.queryBudget.countedMax = counted
        }
        self.generator = generator
        _ = try await self.it.modifyZones(generator.zones.filter { $0 != ZoneID.defaultZoneName })
        try await self.define()
        for _ in 0..<self.generator.number(1...6) { try await self.saveBatch() }
    }

    /// The date of the last change has an index only if the schema says so.
    private static let schema = """
        DEFINE SCHEMA RECORD TYPE Note (
            "___recordID" REFERENCE QUERYABLE,
            "___createTime" TIMESTAMP QUERYABLE SORTABLE,
            "___modTime" TIMESTAMP QUERYABLE SORTABLE
        );
        """

    /// Every field is saved once, in a record that is deleted again, and another type has the same fields.
    private mutating func define() async throws {
        try self.it.store.schemas.apply(
            .replaceDevelopment(try SchemaParser.parse(Self.schema)),
            inContainer: EngineUnderTest.container
        )
        var fields: [String: FieldValue] = [:]
        for field in self.generator.fields {
            fields[field.name] =
                field.type.isList
                ? self.generator.list(field.type.elementType, count: 1) : self.generator.value(field.type)
        }
        let zone = ZoneID(zoneName: self.generator.zones[0])
        let outcomes = try await self.it.modify([
            save("definitions", in: zone, fields), save("o1", in: zone, type: "Other", fields),
            save("o2", in: zone, type: "Other", fields),
        ])
        try #require(outcomes.areSaved)
        _ = try await self.it.modify([], deletes: [id("definitions", in: zone)])
    }

    private mutating func saveBatch() async throws {
        let zone = self.generator.pick(self.generator.zones)
        var saves: [RecordSave] = []
        for _ in 0..<self.generator.number(1...20) {
            let name = "\(self.generator.pick(["r", "s", "rr"]))\(self.generator.number(0...60))"
            guard !saves.contains(where: { $0.id.recordName == name }) else { continue }
            let parent = self.generator.chance(1, in: 5) ? saves.first?.id.recordName : nil
            saves.append(
                save(
                    name,
                    in: ZoneID(zoneName: zone),
                    self.generator.record(),
                    parent: parent.map { .set(recordName: $0) } ?? .unchanged
                )
            )
        }
        let outcomes = try await self.it.modify(saves, policy: .allKeys, isAtomic: false)
        for (save, outcome) in zip(saves, outcomes) {
            guard case .recordSaved(let position, let system) = outcome else { continue }
            let old = self.model.items.firstIndex { $0.zone == zone && $0.name == save.id.recordName }
            let record = try #require(try await self.it.record(save.id))
            let item = QueryModel.Item(
                zone: zone,
                name: save.id.recordName,
                fields: Dictionary(uniqueKeysWithValues: record.body.fields.map { ($0.name, $0.value) }),
                parent: record.parent,
                system: system,
                changeTag: ChangeTag.text(of: position)
            )
            if let old { self.model.items[old] = item } else { self.model.items.append(item) }
        }
        self.it.clock.advance(milliseconds: Int64(self.generator.pick([0, 100, 300])))
    }

    // MARK: Queries

    mutating func check(_ query: Query, zone: String?, _ place: String) async throws {
        guard !self.isNearBorder(query) else { return }
        let expected = self.model.answer(query, in: zone).map { "\($0.zone)/\($0.name)" }
        let changesMeanwhile = self.generator.chance(1, in: 20)
        var read = QueryRead(
            query: query,
            zone: zone.map { ZoneID(zoneName: $0) },
            desiredKeys: self.generator.chance(1, in: 2) ? [] : nil,
            limit: self.generator.pick([1, 2, 3, 7, 50, 400])
        )
        var found: [String] = []
        var plans: [QueryPlan] = []
        var pages = 0
        repeat {
            let answer = try await self.it.query(read)
            #expect(answer.records.count <= read.limit, "\(place)")
            found += answer.records.map { "\($0.id.zone.zoneName)/\($0.id.recordName)" }
            plans.append(answer.plan)
            read.resume = answer.resume
            pages += 1
            if changesMeanwhile, read.resume != nil { try await self.changeNoise() }
        } while read.resume != nil && pages < Self.pagesMax
        let settled = found.filter { !$0.contains("/\(Self.noise)") }
        let isSame = query.sort.isEmpty ? settled.sorted() == expected.sorted() : settled == expected
        if !isSame {
            let plan = plans.first.map { $0.lines(sort: []).joined(separator: "; ") } ?? ""
            let text = """
                \(place)
                query \(query) in \(zone ?? "all zones")
                plan \(plan)
                found \(settled)
                expected \(expected)
                """
            Issue.record("\(text.replacing(String(repeating: "long ", count: 200), with: "LONG "))")
        }
        // A count would never end either.
        try #require(pages < Self.pagesMax, "\(place)")
        if !changesMeanwhile, self.generator.chance(1, in: 4) {
            try await self.checkCount(read, found.count, place)
        }
    }

    /// The number that a count gives, noise included.
    private func checkCount(_ read: QueryRead, _ expected: Int, _ place: String) async throws {
        var read = read
        read.isCount = true
        var count: Int64 = 0
        repeat {
            let answer = try await self.it.query(read)
            #expect(answer.records.isEmpty)
            count += answer.count
            read.resume = answer.resume
        } while read.resume != nil
        #expect(count == expected, "count of \(read.query), \(place)")
    }

    /// Saves and deletes records that no model knows.
    private mutating func changeNoise() async throws {
        let zone = ZoneID(zoneName: self.generator.pick(self.generator.zones))
        var saves: [RecordSave] = []
        for number in 0..<4 where self.generator.chance(1, in: 2) {
            saves.append(save("\(Self.noise)\(number)", in: zone, self.generator.record()))
        }
        let deletes = (4..<6).map { id("\(Self.noise)\($0)", in: zone) }
        let saved = deletes.map { save($0.recordName, in: zone, self.generator.record()) }
        if self.generator.chance(1, in: 2) {
            _ = try await self.it.modify(saves + saved, policy: .allKeys)
        } else {
            _ = try await self.it.modify(saves, deletes: deletes, policy: .allKeys, isAtomic: false)
        }
    }

    /// Whether model and engine may differ, because they measure the earth differently.
    private func isNearBorder(_ query: Query) -> Bool {
        let circles = query.predicate.comparisons.filter { $0.comparator == .near }
        let origins = query.sort.compactMap(\.origin)
        for circle in circles {
            for place in QueryGenerator.places {
                let metres = QueryModel.metres(circle.operand, .location(place))
                if metres > 1, abs(metres - circle.distanceMetres) < metres / 50 { return true }
            }
        }
        for origin in origins {
            let distances = QueryGenerator.places
                .map { QueryModel.metres(.location(origin), .location($0)) }.sorted()
            if zip(distances, distances.dropFirst()).contains(where: { $1 > 1 && $1 - $0 < $1 / 100 }) {
                return true
            }
        }
        return false
    }
}

extension RecordModel.Predicate {
    fileprivate var comparisons: [Comparison] {
        switch self {
        case .all, .nothing: []
        case .comparison(let comparison): [comparison]
        case .and(let parts), .or(let parts): parts.flatMap(\.comparisons)
        }
    }
}
