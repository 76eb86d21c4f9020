import Foundation
import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// Random values in random columns of random rows: errors of the requests that need them, and never the
/// end of the process.
///
/// A round that ends the process has its seed and its statements on the last lines of the output.
/// `SEED=… swift test --filter RandomRowTests` repeats a run.
@Suite(.timeLimit(.minutes(20)))
struct RandomRowTests {
    /// A table with the columns of its key, and all others.
    private struct Columns {
        var table: String
        var key: [String]
        var columns: [Table.Column]

        init(_ table: Table, as columns: [Table.Column]? = nil, key: [String]? = nil) {
            self.table = table.name
            self.columns = columns ?? table.columns
            self.key = key ?? table.key.columns.map { table.columns[$0].name }
        }
    }

    private static func tables(of kind: EngineKind) -> [Columns] {
        guard kind == .sqlite else { return Table.moved.map { Columns($0) } }
        var tombstone = ContentTables.tombstone.columns
        tombstone[tombstone.count - 1] = .optional(.integer("share"))
        let change: [Table.Column] = [
            .integer("database"), .integer("zone"), .integer("position"), .bytes("entries"),
        ]
        let entry: [Table.Column] = [.bytes("key"), .integer("record")]
        var tables = Table.all.map { Columns($0) }
        tables.append(Columns(ContentTables.record, key: ["number"]))
        tables.append(Columns(ContentTables.reference))
        tables.append(Columns(ContentTables.tombstone, as: tombstone))
        tables.append(Columns(ContentTables.change, as: change))
        tables.append(Columns(ContentTables.entry, as: entry, key: ["key", "record"]))
        return tables
    }

    private static func value(
        _ column: Table.Column,
        _ kind: EngineKind,
        _ generator: inout SeededGenerator
    ) -> String {
        if column.isOptional, Int.random(in: 0..<8, using: &generator) == 0 { return "NULL" }
        switch column.kind {
        case .integer:
            let numbers: [Int64] = [
                .max, .min, .max - 1, .min + 1, 0, -1, 1, 2, 255, 256, 1 << 31, 1 << 53, 1 << 60, -(1 << 60),
                Int64.random(in: 0...40, using: &generator),
                Int64.random(in: .min ... .max, using: &generator),
            ]
            let number = numbers.randomElement(using: &generator) ?? 0
            // The least number has no literal of its own.
            return number == .min ? "(-9223372036854775807 - 1)" : "\(number)"
        case .text:
            let texts = [
                "", "a", "root", "___", "é", "e\u{301}", String(repeating: "x", count: 5_000), "/", "\u{1}",
            ]
            return "'\(texts.randomElement(using: &generator) ?? "")'"
        case .bytes:
            let count = [0, 1, 2, 8, 16, 32, 40, 300].randomElement(using: &generator) ?? 0
            let digits = (0..<count).map { _ in
                let byte = UInt8.random(in: 0...255, using: &generator)
                return (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
            return kind == .sqlite ? "X'\(digits)'" : "'\\x\(digits)'"
        }
    }

    private static func statement(_ kind: EngineKind, _ generator: inout SeededGenerator) -> String {
        let tables = Self.tables(of: kind)
        let table = tables[Int.random(in: tables.indices, using: &generator)]
        let column = table.columns[Int.random(in: table.columns.indices, using: &generator)]
        let key = table.key.map { "\"\($0)\"" }.joined(separator: ", ")
        let name = "@\"\(table.table)\""
        let row = Int.random(in: 0..<60, using: &generator)
        let value = Self.value(column, kind, &generator)
        return """
            UPDATE \(name) SET "\(column.name)" = \(value) WHERE (\(key)) IN \
            (SELECT \(key) FROM \(name) ORDER BY \(key) LIMIT 1 \
            OFFSET (SELECT \(row) % (count(*) + (CASE count(*) WHEN 0 THEN 1 ELSE 0 END)) FROM \(name)))
            """
    }

    @Test(arguments: StoredRows.kinds)
    func `no value in any row ends the process`(kind: EngineKind) async throws {
        var generator = SeededGenerator.fromEnvironment()
        let rounds = ProcessInfo.processInfo.environment["ROUNDS"].flatMap { Int($0) } ?? kind.rounds(24)
        for round in 0..<rounds {
            let before = try await FullStore.make(kind)
            let token = try? await before.token(of: notes)
            print("RandomRowTests: \(kind) round \(round), SEED=\(generator.seed)")
            let count = Int.random(in: 1...12, using: &generator)
            let statements = (0..<count).map { _ in Self.statement(kind, &generator) }
            for statement in statements { print("  \(statement.prefix(300))") }
            try StoredRows(of: before).attempt(statements)
            let it: EngineUnderTest
            // A user may have become a service, who has no databases.
            if let reopened = try? await before.reopened(), reopened.signIn.privateDatabase != nil,
                reopened.bobSignIn.privateDatabase != nil
            {
                it = reopened
            } else if let unasked = try? await before.reopenedUnasked() {
                it = unasked
            } else {
                continue
            }
            try await Self.use(it, token: token)
            await it.store.shutdown()
        }
    }

    /// Asks everything of a store; what fails is not of interest.
    private static func use(_ it: EngineUnderTest, token: [UInt8]?) async throws {
        let names = ["a", "b", "c", "keep", "gone", "share", "root", "leaf", "guest", "nobody"]
        for requester in [it.privately, it.bobShared, it.publicly, it.anonymously] {
            let zone =
                requester.scope == .shared ? aliceNotes : requester.scope == .private ? notes : .default
            let ids = names.map { id($0, in: zone) }
            for keys in [nil, ["title"]] { _ = try? await it.fetch(ids, desiredKeys: keys, by: requester) }
            for name in names { _ = try? await it.record(id(name, in: zone), by: requester)?.body.fields }
            var queries = [Query(recordType: "Note")]
            for field in ["title", "list", "___modTime", "___recordID", "___createdBy"] {
                queries.append(Query(recordType: "Note", sort: [SortKey(field: field)]))
            }
            queries.append(Query(recordType: "Note", predicate: isText("title", "changed")))
            for query in queries {
                _ = try? await it.query(QueryRead(query: query, zone: zone), by: requester)
            }
            _ = try? await it.all(of: zone, limit: 3, by: requester)
            _ = try? await it.all(after: token, of: zone, by: requester)
            _ = try? await it.databaseChanges(DatabaseFeedRead(), by: requester)
            _ = try? await it.zones(by: requester)
            _ = try? await it.subscriptions(by: requester)
            _ = try? await it.locate([file(1)], of: id("a", in: zone), by: requester)
            _ = await withCheckedContinuation { continuation in
                it.store.explain(id("a", in: zone), for: requester) { continuation.resume(returning: $0) }
            }
            _ = await withCheckedContinuation { continuation in
                it.store.accessReport(on: id("leaf", in: zone), in: requester) {
                    continuation.resume(returning: $0)
                }
            }
        }
        await Self.operate(it)
        await Self.write(it)
        // Housekeeping of a year, in the transactions of other requests.
        it.clock.advance(milliseconds: 400 * 86_400_000)
        for round in 0..<30 {
            _ = try? await it.modify([save("late\(round)")], by: it.bobPrivately)
        }
        _ = try? await StoreVerification(it.store).run()
    }

    /// What operators ask, and listeners.
    private static func operate(_ it: EngineUnderTest) async {
        let directory = it.store.directory
        _ = try? directory.usage(ofContainer: EngineUnderTest.container)
        _ = try? directory.users(ofContainer: EngineUnderTest.container)
        for environment in [Environment.development, .production] {
            _ = try? it.store.schemas.schema(ofContainer: EngineUnderTest.container, environment: environment)
        }
        _ = try? it.newUser("carol", 0xca401)
        _ = try? await it.startWatching(it.listener(1))
        _ = try? await it.news(for: 1)
        _ = try? await it.history().changes()
        _ = try? await it.history().state(at: 5)
        if let findings = try? await StoreVerification(it.store).run().findings {
            _ = try? FindingRepair(it.store).run(findings)
        }
    }

    private static func write(_ it: EngineUnderTest) async {
        _ = try? await it.modify([save("new", ["title": .string("n")])])
        for policy in [ModifyRecords.Policy.changedKeys, .allKeys] {
            for name in ["a", "b", "c", "leaf"] {
                _ = try? await it.modify([save(name, ["title": .string("\(policy)")])], policy: policy)
            }
        }
        _ = try? await it.changeShare("share", ShareChanges(root: "root"))
        _ = try? await it.modify([sharedSave("guest2", parent: .set(recordName: "root"))], by: it.bobShared)
        _ = try? await it.begin([file(3)])
        if let numbers = try? await it.removals() { _ = try? await it.removed(numbers) }
        _ = try? await it.modifySubscriptions([zoneSubscription("y")])
        _ = try? await it.modify([], deletes: [id("a")])
        _ = try? await it.modify([], deletes: ["b", "c", "root", "share"].map { id($0) })
        _ = try? await it.modifyZones(["more"], deletes: ["notes", "other"])
        _ = try? it.store.directory.setHistoryDays(0, ofContainer: EngineUnderTest.container)
    }
}
