import Foundation
import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformance

/// Random changes to records, zones and indexes; afterwards the entries are what the bodies say.
///
/// `SEED=… swift test --filter IndexModelTests` repeats a run.
@Suite(.timeLimit(.minutes(10)))
struct IndexModelTests {
    private static let requests = 400
    private static let zones = [ZoneID(zoneName: "notes"), ZoneID(zoneName: "more"), ZoneID.default]

    @Test
    func `after any history the entries are those that follow from the bodies`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        var it = try EngineUnderTest(.sqlite)
        _ = try await it.modifyZones(["notes", "more"])
        let other = OtherProcess(folder: it.folder)
        for round in 1...Self.requests {
            let zone = Self.zones.randomElement(using: &generator)!
            if Int.random(in: 0..<40, using: &generator) == 0, !zone.isDefault {
                _ = try await it.modifyZones([], deletes: [zone.zoneName])
                _ = try await it.modifyZones([zone.zoneName])
            } else {
                try await Self.change(it, zone, &generator)
            }
            if round % 25 == 0 { try await Self.changeIndexes(other, &generator) }
            if round % 90 == 0 { it = try await it.reopened() }
            if round % 100 == 0 {
                try await Self.settle(other)
                try await Self.compare(it.folder, "round \(round) of seed \(generator.seed)")
            }
        }
    }

    // MARK: Changes

    private static func change(
        _ it: EngineUnderTest,
        _ zone: ZoneID,
        _ generator: inout SeededGenerator
    ) async throws {
        // A name belongs to one type, so that most saves are valid.
        let names = (0..<30).map { "r\($0)" }.shuffled(using: &generator)
        let saves = names.prefix(Int.random(in: 0...6, using: &generator)).map { name in
            let fields = Self.fields(&generator)
            let parent: RecordSave.ParentChange =
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: .set(recordName: names.randomElement(using: &generator)!)
                case 1: .removed
                default: .unchanged
                }
            return RecordSave(
                id: id(name, in: zone),
                recordType: name.hasSuffix("3") ? "Other" : "Note",
                changes: RecordBody(fields),
                parent: parent
            )
        }
        let deletes = names.suffix(Int.random(in: 0...3, using: &generator)).map { id($0, in: zone) }
        it.clock.advance(milliseconds: Int64.random(in: 0...2, using: &generator))
        _ = try await it.modify(
            Array(saves),
            deletes: deletes,
            policy: .changedKeys,
            isAtomic: Bool.random(using: &generator)
        )
    }

    private static func fields(_ generator: inout SeededGenerator) -> [Field] {
        func some<Element>(_ choices: [Element]) -> Element { choices.randomElement(using: &generator)! }
        func list<Element>(_ choices: [Element]) -> [Element] {
            (0..<Int.random(in: 0...3, using: &generator)).map { _ in some(choices) }
        }
        let texts = ["one two", "Two, three", "ÉTÉ", "", String(repeating: "long ", count: 201), "one"]
        let places = [Location(latitude: 1, longitude: 2), Location(latitude: -1, longitude: 2)]
        let values: [(String, FieldValue)] = [
            ("text", .string(some(texts))), ("title", .string(some(texts))), ("i", .int64(some([0, 1, -1]))),
            ("d", .double(some([0, -0.0, 1.5]))), ("t", .timestamp(some([0, 1]))),
            ("b", .bytes(some([[], [1]]))), ("p", .location(some(places))),
            ("r", .reference(Reference(recordName: some(["r1", "r2"]), action: .none))),
            ("own", .reference(Reference(recordName: some(["r1", "r2", "r3"]), action: .deleteSelf))),
            ("ls", .stringList(list(texts))), ("li", .int64List(list([1, 2, 3]))),
            ("ld", .doubleList(list([0, -0.0, 1]))), ("lp", .locationList(list(places))),
        ]
        return values.filter { _ in Int.random(in: 0..<3, using: &generator) == 0 }.map { name, value in
            let isList = value.type.isList
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: return Field(name: name, value: .clear)
            case 1 where isList: return Field(name: name, value: .emptyList)
            default: return Field(name: name, value: value)
            }
        }
            + (Bool.random(using: &generator)
                ? [Field(name: "secret", value: .int64(1), isEncrypted: true)] : [])
    }

    /// Drops an index and makes one, as a change of the schema does.
    private static func changeIndexes(_ other: OtherProcess, _ generator: inout SeededGenerator) async throws
    {
        // No schema can take the names' index away: by it a type is known to be defined.
        let fields = try await other.execute(
            """
            SELECT number || ' ' || coalesce(index_number, 0) FROM field
            WHERE is_encrypted = 0 AND name != '___recordID'
            """
        ).map { $0.split(separator: " ").map { Int($0)! } }
        guard let dropped = fields.filter({ $0[1] > 0 }).randomElement(using: &generator) else { return }
        try await other.execute(
            [
                "INSERT INTO index_removal VALUES (\(dropped[1]), 0, '')",
                "DELETE FROM index_build WHERE index_number = \(dropped[1])",
                "UPDATE field SET index_number = NULL WHERE number = \(dropped[0])",
            ]
        )
        guard let made = fields.filter({ $0[1] == 0 }).randomElement(using: &generator) else { return }
        try await other.execute(
            [
                "UPDATE index_counter SET last = last + 1",
                "INSERT INTO index_build SELECT last, 0 FROM index_counter",
                "UPDATE field SET index_number = (SELECT last FROM index_counter) WHERE number = \(made[0])",
            ]
        )
    }

    /// Waits until nothing is left to do in the background.
    private static func settle(_ other: OtherProcess) async throws {
        for table in ["index_build", "index_removal", "sweep"] {
            while try await other.count(table) > 0 {}
        }
    }

    // MARK: Comparing

    private static func compare(_ folder: TemporaryDirectory, _ place: Comment) async throws {
        let contents = try await IndexContents(of: OtherProcess(folder: folder))
        #expect(contents.present.count == Set(contents.present).count, place)
        #expect(Set(contents.present).subtracting(contents.expected) == [], place)
        #expect(contents.expected.subtracting(contents.present) == [], place)
        #expect(contents.expected.count > 100, place)
    }
}
