import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// What `tidemark verify` finds in a damaged store, and in a healthy one.
@Suite(.timeLimit(.minutes(10)))
struct VerificationTests {
    /// Statements that damage a store, and all that is found of it.
    struct Damage: CustomStringConvertible, Sendable {
        var statements: [String]
        var kinds: Set<StoreFinding.Kind>
        /// Whether `--repair` makes it good.
        var isRepaired: Bool

        var description: String { self.statements.joined(separator: "; ") }

        init(_ statements: String..., finds kinds: Set<StoreFinding.Kind>, repairs: Bool = false) {
            self.statements = statements
            self.kinds = kinds
            self.isRepaired = repairs
        }
    }

    private static let a = "(SELECT number FROM @record WHERE name = 'a')"
    private static let notes = "(SELECT number FROM @zone WHERE name = 'notes')"

    private static let damages: [Damage] = [
        Damage(
            "UPDATE @record SET created_position = position + 1 WHERE name = 'c'",
            finds: [.recordUnreadable]
        ),
        Damage(
            "UPDATE @record SET position = position - 1 WHERE name = 'b'",
            finds: [.changeMissing, .historyGap]
        ),
        Damage("UPDATE @tombstone SET name = 'keep' WHERE name = 'gone'", finds: [.recordAndTombstone]),
        Damage(
            "UPDATE @tombstone SET position = position + 1000000 WHERE name = 'gone'",
            finds: [.tombstonePosition]
        ),
        Damage(
            "DELETE FROM @index_entry WHERE record = \(Self.a)",
            finds: [.indexEntryMissing, .zoneCounters, .databaseCounters],
            repairs: true
        ),
        Damage(
            "UPDATE @index_entry SET record = 999999 WHERE record = \(Self.a)",
            finds: [.indexEntryMissing],
            repairs: true
        ),
        Damage(
            "DELETE FROM @hold WHERE holder = 'c'",
            finds: [.referenceMissing, .zoneCounters, .databaseCounters]
        ),
        Damage(
            "UPDATE @hold SET target = 'c' WHERE holder = 'c'",
            finds: [.referenceMissing, .referenceStray]
        ),
        Damage(
            "UPDATE @zone SET record_count = record_count + 1, byte_count = -5 WHERE number = \(Self.notes)",
            finds: [.zoneCounters],
            repairs: true
        ),
        Damage(
            "UPDATE @zone SET position = number WHERE name = 'notes'",
            finds: [.zonePosition],
            repairs: true
        ),
        Damage(
            "UPDATE @zone SET position = position + 1000000 WHERE name = 'notes'",
            finds: [.zonePosition],
            repairs: true
        ),
        Damage(
            "UPDATE @database SET row_bytes = row_bytes + 7, asset_count = 9 WHERE number = ALICE",
            finds: [.databaseCounters],
            repairs: true
        ),
        Damage(
            "UPDATE @database SET position = 1 WHERE number = ALICE",
            finds: [.databasePosition],
            repairs: true
        ),
        Damage("UPDATE @share SET root = 'nobody'", finds: [.shareRootMissing, .shareMembership]),
        Damage("UPDATE @cover SET share = 999", finds: [.shareMembership]),
        Damage("DELETE FROM @share_reader", finds: [.mirrorStray], repairs: true),
        Damage(
            "DELETE FROM @zone WHERE target_database IS NOT NULL",
            finds: [.mirrorMissing, .databaseCounters],
            repairs: true
        ),
        Damage(
            "UPDATE @past SET \"before\" = position + 5 WHERE name = 'b' AND \"before\" IS NOT NULL",
            finds: [.historyUnreadable]
        ),
        Damage(
            "UPDATE @past SET position = position + 1000000 WHERE name = 'b' AND \"before\" IS NOT NULL",
            finds: [.historyGap]
        ),
        Damage(
            "UPDATE @asset_use SET record = 999999 WHERE record = \(Self.a)",
            finds: [.assetUseMissing, .assetUseStray]
        ),
        Damage(
            "UPDATE @asset SET since_ms = 5 WHERE state = 1 AND since_ms IS NULL",
            finds: [.assetGrace],
            repairs: true
        ),
        Damage(
            "UPDATE @asset SET size = size + 1 WHERE state = 1 AND since_ms IS NULL",
            finds: [.assetMissing, .assetUseStray, .databaseCounters]
        ),
    ]

    private static func damaged(_ kind: EngineKind, _ damage: Damage) async throws -> EngineUnderTest {
        let before = try await FullStore.make(kind)
        for statement in damage.statements {
            try StoredRows(of: before).attempt([
                statement.replacing("ALICE", with: "\(before.privately.database.rawValue)")
            ])
        }
        return try await before.reopened()
    }

    private static func words(_ kinds: some Sequence<StoreFinding.Kind>) -> [String] {
        Set(kinds.map(\.rawValue)).sorted()
    }

    @Test(arguments: EngineKind.allCases)
    func `a healthy store has no findings`(kind: EngineKind) async throws {
        let it = try await FullStore.make(kind)
        let findings = try await FullStore.findings(of: it)
        #expect(
            findings == [],
            "\(findings.map { "\($0.kind) \($0.place.zone ?? "") \($0.place.record ?? "") \($0.detail)" })"
        )
        let verified = try await StoreVerification(it.store).run()
        #expect(verified.records >= 8 && verified.zones >= 6 && verified.uncounted.isEmpty)
    }

    @Test(arguments: StoredRows.kinds)
    func `each damage is found, and nothing else`(kind: EngineKind) async throws {
        for damage in Self.damages {
            let it = try await Self.damaged(kind, damage)
            let findings = try await FullStore.findings(of: it)
            #expect(Self.words(findings.map(\.kind)) == Self.words(damage.kinds), "\(damage): \(findings)")
            #expect(
                findings.allSatisfy { $0.place.container == EngineUnderTest.container },
                "\(damage): \(findings)"
            )
            #expect(findings.contains { $0.repair != nil } || !damage.isRepaired, "\(damage)")
            await it.store.shutdown()
        }
    }

    @Test(arguments: StoredRows.kinds)
    func `a repair leaves no finding`(kind: EngineKind) async throws {
        for damage in Self.damages where damage.isRepaired {
            let it = try await Self.damaged(kind, damage)
            // Indexes count what they lose, and the sum is right after another turn.
            for _ in 0..<3 {
                let findings = try await FullStore.findings(of: it)
                _ = try FindingRepair(it.store).run(findings)
                for table in [IndexBuildRow.table, IndexRemovalRow.table, ViewRefreshRow.table] {
                    while try it.store.engine.readTables({
                        try $0.count(of: table, in: TableRange(index: table.key), limit: 1)
                    }) > 0 {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                }
            }
            let left = try await FullStore.findings(of: it)
            #expect(left == [], "\(damage)")
            #expect(try await it.modify([save("new", ["title": .string("n")])]).areSaved, "\(damage)")
            #expect(try await FullStore.findings(of: it) == [], "\(damage)")
            await it.store.shutdown()
        }
    }

    @Test(arguments: StoredRows.kinds)
    func `a damaged body is found by its name`(kind: EngineKind) async throws {
        let it = try await StoredRows(of: try await FullStore.make(kind)).damaging("b")
        let findings = try await FullStore.findings(of: it)
        #expect(findings.map(\.kind) == [.recordUnreadable])
        let place = try #require(findings.first).place
        #expect(place.record == "b" && place.zone == "notes" && place.owner == EngineUnderTest.alice)
        #expect(place.scope == .private && place.environment == .development)
        let other = try await StoreVerification(it.store, container: "iCloud.other").run()
        #expect(other.findings.isEmpty && other.databases == 0)
    }

    @Test(arguments: EngineKind.allCases)
    func `nothing is found while records are written, in many small pages`(kind: EngineKind) async throws {
        let it = try await FullStore.make(kind)
        let names = (0..<300).map { "n\($0)" }
        #expect(try await it.modify(names.map { save($0, ["title": .string($0)]) }).areSaved)
        let writer = Task {
            var round = 0
            while !Task.isCancelled {
                let saves = names.shuffled().prefix(5).map { save($0, ["title": .string("\(round) \($0)")]) }
                _ = try await it.modify(Array(saves), policy: .changedKeys)
                _ = try await it.modify([], deletes: [id("m\(round)")])
                _ = try await it.modify([save("m\(round + 1)", parent: .set(recordName: "root"))])
                round += 1
            }
        }
        var verification = StoreVerification(it.store)
        verification.workMax = 100
        for _ in 0..<3 { #expect(try await verification.run().findings == []) }
        writer.cancel()
        _ = try? await writer.value
        let verified = try await verification.run()
        #expect(verified.findings == [] && verified.uncounted.isEmpty)
    }
}
