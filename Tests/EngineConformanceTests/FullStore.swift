import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// A store with a row in nearly every table.
enum FullStore {
    /// What a verification finds.
    static func findings(of it: EngineUnderTest) async throws -> [StoreFinding] {
        let verified = try await StoreVerification(it.store).run()
        #expect(verified.findingsCount == verified.findings.count)
        return verified.findings
    }

    private static let schema = """
        DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE SEARCHABLE SORTABLE,
        list LIST<INT64> QUERYABLE, of REFERENCE QUERYABLE, f ASSET,
        GRANT READ, WRITE, CREATE TO "_icloud");
        """

    static func make(_ kind: EngineKind) async throws -> EngineUnderTest {
        let it = try EngineUnderTest(kind)
        _ = try await it.modifyZones(["notes"])
        try it.keepHistory()
        _ = try it.store.schemas.apply(
            .replaceDevelopment(try SchemaParser.parse(Self.schema)),
            inContainer: EngineUnderTest.container
        )
        try await it.upload(file(1), file(2))
        let saved = try await it.modify([
            save("a", ["title": .string("a first one"), "f": .asset(file(1))]),
            save(
                "b",
                ["title": .string("b"), "of": reference("a", .validate)],
                parent: .set(recordName: "a")
            ),
            save("c", ["list": .int64List([1, 2, 2]), "of": reference("a", .deleteSelf)]),
            save("keep", ["title": .string("kept")]), save("gone", ["title": .string("it goes")]),
        ])
        #expect(saved.areSaved)
        #expect(
            try await it.modify([save("b", ["title": .string("changed")])], policy: .changedKeys).areSaved
        )
        #expect(try await it.modify([], deletes: [id("gone")]) == [.deleted])
        _ = try await it.modifyZones(["old", "other"])
        #expect(try await it.modify([save("x", in: ZoneID(zoneName: "old"))]).areSaved)
        _ = try await it.modifyZones([], deletes: ["old"])
        let share = try await it.share("root")
        #expect(try await it.modify([child("leaf", of: "root")]).areSaved)
        try await it.join(share, by: it.bobShared)
        #expect(
            try await it.modify([sharedSave("guest", parent: .set(recordName: "root"))], by: it.bobShared)
                .areSaved
        )
        _ = try await it.modifySubscriptions([
            query("q", isText("title", "b"), in: notes), zoneSubscription("z"),
        ])
        _ = try await it.startWatching(it.listener(1))
        try await it.acknowledgeAll(by: 1)
        #expect(
            try await it.modify([save("p", in: .default, ["title": .string("public")])], by: it.bobPublicly)
                .areSaved
        )
        // Mirrors, indexes and sweeps are done some time later.
        for type in [SweepRow.table, IndexBuildRow.table, ShareNewsRow.table, ViewRefreshRow.table] {
            while try it.store.engine.readTables({
                try $0.count(of: type, in: TableRange(index: type.key), limit: 1)
            }) > 0 {
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        return it
    }
}
