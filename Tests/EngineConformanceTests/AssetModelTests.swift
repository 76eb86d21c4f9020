import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// Random saves, deletes, uploads, sweeps and restarts, by an engine and by a model.
///
/// `SEED=… swift test --filter AssetModelTests` repeats a run.
@Suite(.timeLimit(.minutes(10)))
struct AssetModelTests {
    private static let rounds = 1_500
    private static let schema = """
        DEFINE SCHEMA RECORD TYPE Note (f ASSET, l LIST<ASSET>, r REFERENCE QUERYABLE,
        GRANT READ, WRITE, CREATE TO "_icloud");
        """

    @Test(arguments: EngineKind.modelCases)
    func `what a record names never goes, and everything else does in the end`(
        kind: EngineKind
    ) async throws {
        let generator = SeededGenerator.fromEnvironment()
        print("AssetModelTests: SEED=\(generator.seed)")
        let it = try await EngineUnderTest.withNotes(kind)
        try it.store.schemas.apply(
            .replaceDevelopment(try SchemaParser.parse(Self.schema)),
            inContainer: EngineUnderTest.container
        )
        var run = Run(it: it, generator: generator)
        for round in 0..<kind.rounds(Self.rounds) {
            try await run.step("round \(round) of seed \(generator.seed)")
            guard round % 250 == 249 else { continue }
            #expect(try await run.it.wrongUses() == [])
            #expect(try await run.it.wrongCounters() == [])
            run.it = try await run.it.reopened()
        }
        try await run.finish()
    }

    private struct Run {
        var it: EngineUnderTest
        var generator: SeededGenerator
        var model = AssetModel()

        private var now: Int64 { self.it.clock.milliseconds }

        private mutating func chance(_ count: Int) -> Int {
            Int.random(in: 0..<count, using: &self.generator)
        }

        private mutating func requester() -> Requester {
            [self.it.privately, self.it.publicly, self.it.bobPublicly, self.it.bobPrivately][self.chance(4)]
        }

        private mutating func files(max: Int) -> [Int] {
            Array((0..<10).shuffled(using: &self.generator).prefix(self.chance(max + 1)))
        }

        mutating func step(_ place: Comment) async throws {
            switch self.chance(20) {
            case 0..<5: try await self.upload(by: self.requester())
            case 5..<12: try await self.save(by: self.requester(), place)
            case 12..<14: try await self.delete(by: self.requester())
            case 14: try await self.deleteZone()
            case 15..<17: self.it.clock.advance(milliseconds: Int64(self.chance(Int(grace))))
            default: try await self.sweep(limit: 1 + self.chance(4), place)
            }
        }

        private mutating func upload(by requester: Requester) async throws {
            let files = self.files(max: 3)
            guard !files.isEmpty else { return }
            let places = try await self.it.begin(files.map { file($0) }, by: requester)
            self.model.began(files, places, by: requester, now: self.now)
            for number in places.compactMap(\.number) {
                switch self.chance(6) {
                case 0: continue
                case 1:
                    self.it.store.assets.abandon(number)
                    self.model.abandoned(number)
                default:
                    try await self.it.complete(number)
                    self.model.completed(number, now: self.now)
                }
            }
        }

        private mutating func key(_ requester: Requester) -> AssetModel.RecordKey {
            let isNotes = requester == self.it.privately && self.chance(3) > 0
            return AssetModel.RecordKey(
                database: requester.database,
                zone: isNotes ? notes.zoneName : ZoneID.defaultZoneName,
                name: self.chance(8) == 0 ? "root" : "r\(self.chance(6))"
            )
        }

        private mutating func save(by requester: Requester, _ place: Comment) async throws {
            let key = self.key(requester)
            var item = self.model.records[key] ?? AssetModel.Item()
            var fields: [String: FieldValue] = [:]
            if self.chance(2) == 0 {
                item.single = self.chance(3) == 0 ? nil : self.chance(10)
                fields["f"] = item.single.map { .asset(file($0)) } ?? .clear
            }
            if self.chance(2) == 0 {
                item.list = self.files(max: 4)
                fields["l"] = item.list.isEmpty ? .emptyList : .assetList(item.list.map { file($0) })
            }
            let root = AssetModel.RecordKey(database: key.database, zone: key.zone, name: "root")
            if key != root, self.model.records[root] != nil, self.chance(3) == 0 {
                item.isHeld = true
                fields["r"] = reference("root", .deleteSelf)
            }
            let isPermitted = self.model.permits(item.files, key, by: requester)
            let outcome = try await self.it.modify(
                [EngineConformance.save(key.name, in: ZoneID(zoneName: key.zone), fields)],
                policy: .changedKeys,
                by: requester
            )[0]
            #expect(outcome.isSaved == isPermitted, place)
            guard isPermitted else {
                guard case .assetNotAvailable? = outcome.error else {
                    Issue.record("\(String(describing: outcome.error)): \(place)")
                    return
                }
                return
            }
            self.model.set(item, key, now: self.now)
        }

        private mutating func delete(by requester: Requester) async throws {
            let key = self.key(requester)
            let outcomes = try await self.it.modify(
                [],
                deletes: [id(key.name, in: ZoneID(zoneName: key.zone))],
                by: requester
            )
            #expect(outcomes == [.deleted])
            self.model.set(nil, key, now: self.now)
            guard key.name == "root" else { return }
            for (other, item) in self.model.records
            where item.isHeld && other.database == key.database && other.zone == key.zone {
                self.model.set(nil, other, now: self.now)
            }
        }

        private mutating func deleteZone() async throws {
            _ = try await self.it.modifyZones([], deletes: ["notes"])
            for key in self.model.records.keys where key.zone == notes.zoneName {
                self.model.set(nil, key, now: self.now)
            }
            _ = try await self.it.modifyZones(["notes"])
        }

        private mutating func sweep(limit: Int, _ place: Comment) async throws {
            let numbers = try await self.it.removals(limit: limit)
            #expect(numbers.count <= limit)
            self.model.going(numbers, now: self.now, grace: grace, place)
            let removed = numbers.filter { _ in Bool.random(using: &self.generator) }
            try await self.it.removed(removed)
            self.model.garbage.subtract(removed)
        }

        mutating func finish() async throws {
            // A zone that was deleted last takes all names with it.
            for _ in 0..<100 where self.model.namedPlaces.isEmpty {
                let requester = self.requester()
                try await self.upload(by: requester)
                try await self.save(by: requester, "the end")
            }
            try await self.it.swept()
            self.it.clock.advance(milliseconds: grace)
            while true {
                let numbers = try await self.it.removals(limit: 3)
                self.model.going(numbers, now: self.now, grace: grace, "the end")
                try await self.it.removed(numbers)
                self.model.garbage.subtract(numbers)
                if numbers.count < 3 { break }
            }
            #expect(self.model.uploads.isEmpty)
            #expect(self.model.garbage.isEmpty)
            #expect(Set(self.model.complete.keys) == self.model.namedPlaces)
            #expect(!self.model.namedPlaces.isEmpty)
            #expect(Set(try self.it.stored().map(\.number)) == Set(self.model.complete.values.map(\.number)))
            #expect(try self.it.count(AssetRow.self) == self.model.complete.count)
            #expect(try await self.it.wrongUses() == [])
            #expect(try await self.it.wrongCounters() == [])
        }
    }
}

private let grace = EngineUnderTest.graceMilliseconds
