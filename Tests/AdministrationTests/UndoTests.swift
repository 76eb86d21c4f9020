import Administration
import Foundation
import RecordModel
import RecordStore
import StorageContract
import Testing

/// The parts of an undo, with changes between them.
@Suite(.timeLimit(.minutes(1)))
struct UndoTests {
    private static let zone = ZoneID(zoneName: "desk")

    private static func id(_ name: String) -> RecordID { RecordID(zone: self.zone, recordName: name) }

    private func save(_ name: String, _ text: String, in database: AdministeredDatabase) async throws {
        let save = RecordSave(
            id: Self.id(name),
            recordType: "Note",
            changes: RecordBody([Field(name: "text", value: .string(text))])
        )
        let operation = ModifyRecords(scope: .private, saves: [save], policy: .changedKeys)
        let outcomes = try await database.write(.modifyRecords(operation))
        #expect(outcomes.allSatisfy { if case .recordSaved = $0 { true } else { false } })
    }

    /// Runs a body with the database of a user, which has the zone, and keeps a history or none.
    private func withZone(
        historyDays: Int = 1,
        _ body: (AdministeredDatabase) async throws -> Void
    ) async throws {
        try await OpenedStore.run { opened in
            _ = try opened.user("alice").add()
            try opened.administered.setHistoryDays(historyDays)
            let database = try opened.database(of: "alice")
            _ = try await database.write(.modifyZones(ModifyZones(scope: .private, saves: [Self.zone])))
            try await body(database)
        }
    }

    private func past(_ database: AdministeredDatabase) async throws -> ZonePast {
        try await ZonePast(Self.zone, of: database, OpenedStore.container)
    }

    @Test
    func `a record that a client changes while an undo runs stays as the client left it`() async throws {
        try await self.withZone { database in
            for name in ["a", "b"] { try await self.save(name, "good", in: database) }
            let position = try await self.past(database).extent.position
            for name in ["a", "b", "c"] { try await self.save(name, "bad", in: database) }

            let past = try await self.past(database)
            var run = UndoRun(past, overridesLater: false, showProgress: { _, _ in })
            try await run.compare(try await past.plan(to: .position(position), by: nil))
            #expect(run.counts.changed == 2 && run.counts.deleted == 1)
            for name in ["a", "c"] { try await self.save(name, "mine", in: database) }
            try await run.write()
            #expect(run.counts.changed == 1 && run.counts.deleted == 0)
            #expect(run.failures.kept.map(\.record) == ["a", "c"])
            #expect(run.failures.kept.allSatisfy { $0.reason == .changedMeanwhile })
            let texts = try await database.fetch(["a", "b", "c"].map(Self.id)).map { outcome -> FieldValue? in
                guard case .record(let record) = outcome else { return nil }
                return record.body.fields.first?.value
            }
            #expect(texts == ["mine", "good", "mine"].map(FieldValue.string))
        }
    }

    @Test
    func `an undo needs a history that reaches back`() async throws {
        try await self.withZone(historyDays: 0) { database in
            try await self.save("a", "good", in: database)
            await #expect(throws: HistoryError.isNotKept(container: OpenedStore.container)) {
                try await self.past(database)
            }
            let other = ZoneID(zoneName: "other")
            await #expect(throws: HistoryError.zone(other, .zoneMissing)) {
                try await ZonePast(other, of: database, OpenedStore.container)
            }
        }
        try await self.withZone { database in
            try await self.save("a", "good", in: database)
            let past = try await self.past(database)
            let point = PointInTime.milliseconds(1)
            await #expect(
                throws: HistoryError.doesNotReach(point, zone: Self.zone, beginning: past.extent)
            ) {
                try await past.plan(to: point, by: nil)
            }
        }
    }

    @Test(
        arguments: [
            ("1204", .position(1_204)), ("0", .position(0)),
            ("2026-11-26T09:30:00Z", .milliseconds(1_795_685_400_000)),
            ("2026-11-26T09:30:00.250Z", .milliseconds(1_795_685_400_250)),
            ("2026-11-26T11:30:00+02:00", .milliseconds(1_795_685_400_000)),
        ] as [(String, PointInTime)]
    )
    func `a point is a position or a time`(text: String, point: PointInTime) {
        #expect(PointInTime(text) == point)
    }

    @Test(arguments: ["90s": 90, "30m": 1_800, "2h": 7_200, "7d": 604_800] as [String: Int64])
    func `a point is how long ago`(text: String, seconds: Int64) throws {
        guard case .milliseconds(let time)? = PointInTime(text) else {
            Issue.record("\(text) is no time")
            return
        }
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        #expect(abs(now - time - seconds * 1_000) < 60_000)
    }

    @Test(arguments: ["", "-1", "yesterday", "2h30m", "h", "-2h", "99999999999d", "2026-11-26"])
    func `anything else is no point`(text: String) {
        #expect(PointInTime(text) == nil)
    }
}
