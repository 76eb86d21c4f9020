import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformanceTests

/// Files that earlier versions wrote.
@Suite(.timeLimit(.minutes(5)))
struct FormatTests {
    @Test
    func `a file of format 1 opens, keeps its records and gets indexes`() async throws {
        let folder = try FixtureContents.folder(ofFormat: 1)
        let it = try EngineUnderTest(.sqlite, openingFilesIn: folder)
        let other = OtherProcess(folder: folder)
        let record = try #require(try await it.record(id("n2")))
        #expect(record["title"] == .string("Größe über Alles"))
        #expect(record.parent == "n1")
        // Fields that were defined then still are.
        #expect(try await it.modify([save("new", ["count": .string("")])])[0].error != nil)
        let marks = try await other.execute(
            """
            SELECT record_type.name || '.' || field.name || ' ' || field.indexes || ' ' ||
            (index_number IS NOT NULL) FROM field JOIN record_type ON record_type.number = record_type
            WHERE record_type.name != 'Many' ORDER BY 1
            """
        )
        #expect(
            marks == [
                "Note.___allText 4 1", "Note.___createTime 3 1", "Note.___parent 1 1",
                "Note.___recordID 1 1", "Note.count 3 1", "Note.data 0 0", "Note.other 1 1",
                "Note.place 3 1", "Note.ratio 3 1", "Note.secret 0 0", "Note.tags 1 1", "Note.title 7 1",
                "Note.when 3 1",
            ]
        )
        #expect(
            try await other.execute("SELECT max(index_number) = (SELECT last FROM index_counter) FROM field")
                == ["1"]
        )
        while try await other.count("index_build") > 0 {}
        let contents = try await IndexContents(of: other)
        #expect(Set(contents.present) == contents.expected)
        #expect(contents.expected.count > 80)
        // Zones know what they have, and feeds begin.
        #expect(try await it.wrongCounters() == [])
        let feed = try await it.all()
        #expect(feed.items.contains("n2"))
        _ = try await it.modify([], deletes: [id("n2")])
        #expect(try await it.all(after: feed.token).items == ["-n2"])
    }

    @Test
    func `a user who had been revoked in format 1 still is`() async throws {
        let folder = try FixtureContents.folder(ofFormat: 1)
        _ = try await OtherProcess(folder: folder).execute(
            "UPDATE user SET token_hash = NULL WHERE name = 'bob'"
        )
        let it = try EngineKind.sqlite.open(in: folder.path, clock: ManualClock())
        let users = try it.directory.users(ofContainer: EngineUnderTest.container)
        #expect(users.map(\.name) == ["alice", "bob"])
        #expect(users.map(\.isRevoked) == [false, true])
        #expect(users.map(\.isService) == [false, false])
        await it.shutdown()
    }

    @Test
    func `a file of format 4 opens, keeps its records and takes subscriptions`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 4))
        #expect(try await it.record(id("n2"))?.parent == "n1")
        #expect(try await it.subscriptions() == [])
        let saves = [query("q", isText("title", "drei"), in: notes), databaseSubscription("d")]
        #expect(try await it.modifySubscriptions(saves) == saves.map { .subscriptionSaved($0) })
        #expect(try await it.news() == [])
        _ = try await it.modify([save("n4", ["title": .string("vier")])])
        #expect(try await it.news() == ["d", "q"])
    }

    @Test
    func `a file of format 5 opens, and its fields of assets are fields like others`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 5))
        #expect(try await it.record(id("n2"))?.parent == "n1")
        let note = try #require(
            try it.store.schemas.schema(
                ofContainer: EngineUnderTest.container,
                environment: .development
            )["Note"]
        )
        #expect(note["file"]?.type == .field(.asset))
        #expect(note["files"]?.type == .field(.assetList))
        for (field, type) in [("file", FieldType.asset), ("files", .assetList)] {
            let mismatch = StoreError.fieldTypeMismatch(
                recordType: "Note",
                field: field,
                given: .string,
                defined: type
            )
            #expect(try await it.modify([save("new", [field: .string("")])])[0].error == mismatch)
        }
    }

    @Test
    func `a file of format 8 opens, keeps its shares, and its zones keep what clients send`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 8))
        for (share, root) in [("s3", "r2"), ("s1", "r0")] {
            #expect(try await it.share(named: share)?.root == root)
        }
        #expect(try await it.changes(FeedRead(zone: notes)).clientToken == [])
        let operation = ModifyRecords(scope: .private, saves: [save("new")], clientToken: [7])
        #expect(try await it.write(.modifyRecords(operation)).get().areSaved)
        #expect(try await it.changes(FeedRead(zone: notes)).clientToken == [7])
    }

    @Test
    func `a file of format 9 opens, and what its rows take is counted`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 9))
        #expect(try await it.wrongCounters() == [])
        let before = try it.store.directory.usage(ofContainer: EngineUnderTest.container).total
        #expect(before.rowBytes > 5_000)
        #expect(try await it.share(named: "s3")?.root == "r2")
        #expect(try await it.modify([save("new")]).areSaved)
        #expect(try await it.wrongCounters() == [])
        let after = try it.store.directory.usage(ofContainer: EngineUnderTest.container).total
        #expect(after.rowBytes > before.rowBytes)
    }

    @Test
    func `a file of format 10 opens, and its pending changes of shared databases are told`() async throws {
        let folder = try FixtureContents.folder(ofFormat: 10)
        let other = OtherProcess(folder: folder)
        let expired = try await other.execute(
            "SELECT expired_through FROM zone WHERE target_database IS NOT NULL"
        )
        #expect(try await other.execute("SELECT origin FROM share_news WHERE share = 1") == ["7"])
        let it = try EngineUnderTest(.sqlite, openingFilesIn: folder)
        #expect(try await other.execute("SELECT through FROM share_expiry") == expired)
        #expect(try await it.sharedZones(by: it.bobShared).items == ["notes"])
        #expect(try await other.count("share_news JOIN share ON share = number") == 0)
        #expect(try await other.count("view_refresh") == 0)
        #expect(try await it.record(sharedID("task"), by: it.bobShared)?["n"] == .int64(5))
        #expect(try await it.wrongCounters() == [])
    }

    @Test
    func `a file of format 13 opens, its zones have a key for each record, and nobody is restricted`()
        async throws
    {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 13))
        guard case .zone(let zone)? = try await it.zones(.ids([notes])).first else {
            Issue.record("no zone")
            return
        }
        #expect(zone.encryptionScope == .perRecord && zone.capabilities.contains(.sharing))
        let users = try it.store.directory.users(ofContainer: EngineUnderTest.container)
        #expect(users.count > 1 && users.allSatisfy { !$0.isRestricted })
        let sealed = ZoneSave(id: ZoneID(zoneName: "sealed"), encryptionScope: .perZone)
        let creation = ModifyZones(scope: .private, zoneSaves: [sealed, ZoneSave(id: notes)])
        #expect(try await it.write(.modifyZones(creation)).get().allSatisfy { $0.error == nil })
        #expect(try await it.wrongCounters() == [])
    }

    /// Makes a file of this format one of format 12.
    static let asOfFormat12 = [
        "ALTER TABLE zone DROP COLUMN encryption_scope", "ALTER TABLE user DROP COLUMN restricted_ms",
        "DROP INDEX container_history", "ALTER TABLE container DROP COLUMN history_days",
        "ALTER TABLE container DROP COLUMN history_since_ms", "DROP TABLE past", "DROP TABLE past_zone",
        "DROP TABLE past_removal", "DROP TABLE installation_seen",
        "ALTER TABLE service_key DROP COLUMN is_read_only",
        "DELETE FROM grdb_migrations WHERE identifier IN ('13', '14')", "PRAGMA user_version = 12",
    ]

    @Test
    func `a file of format 12 opens, and keeps a history when it is told to`() async throws {
        let it = try EngineUnderTest(.sqlite, openingFilesIn: FixtureContents.folder(ofFormat: 12))
        #expect(try await it.history().extent() == nil)
        let state = try await it.history().state()
        #expect(try it.store.directory.historyDays(ofContainer: EngineUnderTest.container) == 0)
        try it.keepHistory()
        let position = try #require(try await it.history().extent()).position
        _ = try await it.modify([save("n1", ["title": .string("other")])], policy: .changedKeys)
        #expect(try await it.history().undo(to: .position(position)).errors == [])
        #expect(try await it.history().state() == state)
        #expect(try await it.wrongCounters() == [])
    }

    @Test
    func `a file of format 12 opens, notes who fetches, and its keys may write`() async throws {
        let folder = try FixtureContents.folder(ofFormat: 12)
        let it = try EngineUnderTest(.sqlite, openingFilesIn: folder)
        let other = OtherProcess(folder: folder)
        #expect(try await it.record(sharedID("task"), by: it.bobShared)?["n"] == .int64(5))
        #expect(try await it.wrongCounters() == [])
        var read = FeedRead(zone: aliceNotes)
        read.installation = Array(repeating: 7, count: 16)
        read.token = try await it.changes(read, by: it.bobShared).token
        _ = try await it.changes(read, by: it.bobShared)
        let deliveries = try await ExplainTests.explanation(it, of: id("task")).deliveries
        let bob = deliveries.first { $0.userRecordName == EngineUnderTest.bob }
        #expect(bob?.state == .hasIt)
        await it.store.shutdown()
        #expect(try await other.count("installation_seen") == 1)
        #expect(try await other.execute("SELECT count(*) FROM service_key WHERE is_read_only") == ["0"])
    }

    @Test
    func `what is counted anew is what was counted with each change`() async throws {
        var it = try await EngineUnderTest.withNotes(.sqlite)
        _ = try await it.modifyZones(["other", "gone"])
        try await it.upload(file(1), file(2, size: 5_000))
        let fields: [String: FieldValue] = ["title": .string("one two"), "file": .asset(file(1))]
        _ = try await it.modify([save("root", fields), save("child", ["r": reference("root", .validate)])])
        _ = try await it.modify([save("child", parent: .set(recordName: "root"))], policy: .changedKeys)
        try await it.join(it.share("root"), by: it.bobShared)
        _ = try await it.modify([save("dead", fields), save("dead", in: .default)])
        _ = try await it.modify([], deletes: [id("dead")])
        _ = try await it.modifySubscriptions([databaseSubscription("d")])
        _ = try await it.modifyZones([], deletes: ["gone"])
        try await it.acknowledgeAll()
        let other = OtherProcess(folder: it.folder)
        while try await other.count("sweep") > 0 {}
        while try await other.count("listener_cursor") == 0 {}
        #expect(try await it.wrongCounters() == [])
        let before = try it.store.directory.usage(ofContainer: EngineUnderTest.container)
        await it.store.shutdown()
        try await other.execute(FormatTests.asOfFormat12)
        try await other.execute([
            "ALTER TABLE zone DROP COLUMN row_bytes", "ALTER TABLE database DROP COLUMN row_bytes",
            "ALTER TABLE sweep DROP COLUMN byte_count", "DROP TABLE share_news", "DROP TABLE share_expiry",
            "ALTER TABLE view_refresh DROP COLUMN origin",
            "CREATE TABLE share_news (share INTEGER PRIMARY KEY, origin INTEGER NOT NULL) STRICT",
            "ALTER TABLE zone ADD COLUMN expired_through INTEGER NOT NULL DEFAULT 0",
            EntryCopyTests.earlierTable, EntryCopyTests.earlierEntries, "DROP TABLE index_entry",
            "DROP TABLE entry_copy",
            "DELETE FROM grdb_migrations WHERE identifier IN ('10', '11', '12')",
            "PRAGMA user_version = 9",
        ])
        it = try await it.reopened()
        #expect(try it.store.directory.usage(ofContainer: EngineUnderTest.container) == before)
        #expect(try await it.wrongCounters() == [])
    }
}
