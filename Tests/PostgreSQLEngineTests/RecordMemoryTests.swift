import PostgreSQLCluster
import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// Records that a server remembers from one commit to the next.
@Suite(.timeLimit(.minutes(10)))
struct RecordMemoryTests {
    private static let database = DatabaseID(rawValue: 7)
    private static let zone = ZoneKey(database: database, number: 3)

    private static func record(bytes: Int) -> StoredRecord {
        let system = SystemFields(
            createdMilliseconds: 1,
            modifiedMilliseconds: 1,
            createdBy: "_a",
            modifiedBy: "_a"
        )
        let text = String(repeating: "x", count: bytes)
        return StoredRecord(
            number: 1,
            recordType: "Note",
            position: 1,
            system: system,
            parent: nil,
            body: RecordBody([Field(name: "text", value: .string(text))])
        )
    }

    /// A transaction that finds the database at a position, and saves and deletes records.
    private static func commit(
        _ memory: RecordMemory,
        at position: Int64,
        _ written: [String: StoredRecord?]
    ) {
        memory.begin()
        memory.note(position: position, of: self.database)
        let records = written.map { (name: $0.key, record: $0.value) }
        memory.commit([self.database: position + 1], [self.zone: records])
    }

    /// The names of the records that a transaction uses when it finds the database at a position.
    private static func used(_ memory: RecordMemory, at position: Int64, _ names: [String]) -> [String] {
        memory.begin()
        memory.note(position: position, of: self.database)
        guard memory.isUnchanged(self.database), let known = memory.known(self.zone) else { return [] }
        return names.filter { known.record(named: $0) != nil }
    }

    // MARK: The memory itself

    @Test
    func `records are remembered once nobody else has written between two commits`() {
        let memory = RecordMemory(bytesMax: 1_000_000)
        let record = Self.record(bytes: 10)
        Self.commit(memory, at: 4, ["first": record])
        #expect(Self.used(memory, at: 5, ["first"]) == [])
        Self.commit(memory, at: 5, ["second": record, "third": record])
        #expect(Self.used(memory, at: 6, ["first", "second", "third"]) == ["second", "third"])
        Self.commit(memory, at: 6, ["third": StoredRecord?.none])
        #expect(Self.used(memory, at: 7, ["second", "third"]) == ["second"])
        // Somebody else.
        Self.commit(memory, at: 9, ["fourth": record])
        #expect(Self.used(memory, at: 10, ["second", "fourth"]) == [])
        Self.commit(memory, at: 10, ["fifth": record])
        #expect(Self.used(memory, at: 11, ["fifth"]) == ["fifth"])
        #expect(Self.used(memory, at: 12, ["fifth"]) == [])
        // An old record is not used, whatever position there is later.
        #expect(Self.used(memory, at: 11, ["fifth"]) == [])
    }

    @Test
    func `records of a database that is not locked are not used`() {
        let memory = RecordMemory(bytesMax: 1_000_000)
        let record = Self.record(bytes: 10)
        for position in Int64(1)...2 { Self.commit(memory, at: position, ["it": record]) }
        memory.begin()
        #expect(!memory.isUnchanged(Self.database))
        #expect(memory.known(Self.zone)?.record(named: "it") == record)
        // A commit without a look at the position leaves nothing behind.
        memory.commit([Self.database: 4], [:])
        #expect(Self.used(memory, at: 4, ["it"]) == [])
    }

    @Test
    func `the records that were saved longest ago are forgotten`() {
        let memory = RecordMemory(bytesMax: 100_000)
        let record = Self.record(bytes: 1_000)
        let names = (0..<300).map { "r\($0)" }
        Self.commit(memory, at: 0, [:])
        for (number, name) in names.enumerated() {
            Self.commit(memory, at: Int64(number) + 1, [name: record, "always": record])
        }
        let left = Self.used(memory, at: 301, names + ["always"])
        #expect(left.count > 35 && left.count < 100_000 / 1_000)
        #expect(left == names.suffix(left.count - 1) + ["always"])
        // Deleted in both generations.
        let gone = [left[0], left[left.count - 2]]
        let deletions = Dictionary(uniqueKeysWithValues: gone.map { ($0, StoredRecord?.none) })
        Self.commit(memory, at: 301, deletions)
        #expect(Self.used(memory, at: 302, left) == left.filter { !gone.contains($0) })
    }

    // MARK: Servers

    @Test
    func `a record that one server saves again and again is not read again`() async throws {
        let it = try await EngineUnderTest.withNotes(.postgreSQL)
        let target = try PostgreSQLCluster.running().target(standingFor: it.folder.path)
        let costs = StoreCosts(database: target.databaseName ?? "")
        func saveAll(_ value: Int64) async throws {
            let saves = (0..<50).map { save("r\($0)", ["n": .int64(value)]) }
            #expect(try await it.modify(saves, policy: .changedKeys).areSaved)
        }
        try await saveAll(0)
        let before = try await costs.searches(of: "record_by_name")
        // The first knows no position, and the second finds its own.
        for value in Int64(1)...6 { try await saveAll(value) }
        #expect(try await costs.searches(of: "record_by_name") == before + 100)
        #expect(try await it.record(id("r7"))?["n"] == .int64(6))
    }

    @Test
    func `two servers that save and delete the same records keep what each has saved`() async throws {
        let first = try await EngineUnderTest.withNotes(.postgreSQL)
        let servers = [first, try first.beside()]
        var generator = SeededGenerator.fromEnvironment()
        var model: [String: [String: FieldValue]] = [:]
        var tags: [String: String] = [:]
        var server = first
        for turn in 0..<600 {
            let place: Comment = "turn \(turn) of seed \(generator.seed)"
            // Mostly the same one, so that it has something to remember.
            if Int.random(in: 0..<6, using: &generator) == 0 {
                server = servers[Int.random(in: 0..<2, using: &generator)]
            }
            let name = "r\(Int.random(in: 0..<6, using: &generator))"
            let fields = ["f\(Int.random(in: 0..<4, using: &generator))": FieldValue.int64(Int64(turn))]
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
                _ = try await server.modify([], deletes: [id(name)])
                model[name] = nil
                tags[name] = nil
            case 1:
                // An old tag is refused, and changes nothing.
                guard tags[name] != nil else { continue }
                let outcome = try await server.modify([save(name, tag: "1", fields)])[0]
                guard case .changeTagStale(let current)? = outcome.error else {
                    Issue.record(place)
                    continue
                }
                #expect(current.changeTag == tags[name], place)
                #expect(Self.fields(current) == model[name], place)
            case 2...4:
                let outcome = try await server.modify([save(name, tag: tags[name], fields)])[0]
                #expect(outcome.isSaved, place)
                model[name, default: [:]].merge(fields) { $1 }
                tags[name] = outcome.tag
            default:
                let outcome = try await server.modify([save(name, fields)], policy: .changedKeys)[0]
                #expect(outcome.isSaved, place)
                model[name, default: [:]].merge(fields) { $1 }
                tags[name] = outcome.tag
            }
        }
        for name in (0..<6).map({ "r\($0)" }) {
            let record = try await first.record(id(name))
            #expect(record.map(Self.fields) == model[name], "\(name), seed \(generator.seed)")
            #expect(record?.changeTag == tags[name])
        }
        #expect(try await first.isOrderWhole())
        #expect(try await first.wrongCounters() == [])
    }

    private static func fields(_ record: Record) -> [String: FieldValue] {
        Dictionary(uniqueKeysWithValues: record.body.fields.map { ($0.name, $0.value) })
    }
}
