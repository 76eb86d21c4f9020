import PostgreSQLCluster
import RecordModel
import Synchronization
import TestSupport
import Testing

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

/// A database and its settings as somebody else has made them.
@Suite(.timeLimit(.minutes(10)))
struct UnkindSettingsTests {
    /// Each would change what a statement returns, promises or may take.
    private static let settings = [
        "search_path = nowhere", "client_encoding = latin1", "datestyle = 'German, DMY'",
        "intervalstyle = sql_standard", "timezone = 'Pacific/Chatham'",
        "default_transaction_isolation = serializable", "default_transaction_deferrable = on",
        "statement_timeout = '1s'", "lock_timeout = '1s'", "idle_in_transaction_session_timeout = '1s'",
        "synchronous_commit = off", "work_mem = '64kB'", "extra_float_digits = -15",
        "bytea_output = escape", "standard_conforming_strings = off", "array_nulls = off",
        "transform_null_equals = on", "quote_all_identifiers = on", "row_security = off",
        "jit_above_cost = 0", "enable_indexscan = off", "enable_indexonlyscan = off", "enable_sort = off",
        "plan_cache_mode = force_custom_plan", "join_collapse_limit = 1", "random_page_cost = 1000",
        "client_min_messages = debug1",
    ]

    /// A database whose collation knows that a capital letter is next to the small one.
    private static func database(_ settings: [String]) throws -> String {
        let cluster = try PostgreSQLCluster.running()
        let name = try cluster.emptyDatabase("LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C.UTF-8'")
        for setting in settings { try cluster.administer("ALTER DATABASE \(name) SET \(setting)") }
        return name
    }

    private static func engine(in database: String) async throws -> EngineUnderTest {
        let target = try PostgreSQLCluster.running().target(database: database)
        let it = try EngineUnderTest(.postgreSQL) { $0.postgreSQL = { $0.target = target } }
        _ = try await it.modifyZones(["notes"])
        return it
    }

    /// A level that sets what a session begins with, from the weakest to the strongest.
    private enum Level: CaseIterable {
        case database, role, roleInDatabase

        func statement(_ database: String, _ role: String) -> String {
            switch self {
            case .database: "ALTER DATABASE \(database)"
            case .role: "ALTER ROLE \(role)"
            case .roleInDatabase: "ALTER ROLE \(role) IN DATABASE \(database)"
            }
        }
    }

    /// What a session has, when it begins with a setting that one level has made.
    private static func setting(_ name: String, begun value: String, by level: Level) throws -> String {
        let cluster = try PostgreSQLCluster.running()
        let database = try cluster.emptyDatabase()
        let role = "role_\(database)"
        try cluster.administer("CREATE ROLE \(role) LOGIN")
        try cluster.administer("\(level.statement(database, role)) SET \(name) = \(value)")
        let session = try PostgreSQLConnection(cluster.target(database: database, user: role))
        return try session.query(SQL("SELECT current_setting('\(name)')", reach: .store)).text(0, 0)
    }

    // MARK: Contents

    private static let names = [
        "a", "B", "b", "A", "é", "Z", "x_1", "-1", "ä", "aa", "10", "9", "'\\", "NULL",
    ]

    /// What clients see of records with names, texts and numbers at the bounds of their types.
    private static func views(_ it: EngineUnderTest) async throws -> [[String]] {
        for (number, name) in self.names.enumerated() {
            let fields: [String: FieldValue] = [
                "text": .string(name), "number": .double(0.1 + Double(number) * 1e-13),
                "data": .bytes([0, 0x5C, 0x27, UInt8(number)]), "list": .stringList([name, "NULL", "{}"]),
            ]
            #expect(try await it.modify([save(name, fields)]).areSaved)
        }
        #expect(try await it.modify([save("child", ["up": reference("a", .deleteSelf)])]).areSaved)
        #expect(try await it.modify([], deletes: [id("Z"), id("a")])[0].error == nil)
        let feed = try await it.changes(FeedRead(zone: notes)).items.map { "\($0)" }
        var views = [feed]
        for key in ["text", "number"] {
            for isAscending in [true, false] {
                let query = Query(recordType: "Note", sort: [SortKey(field: key, isAscending: isAscending)])
                let found = try await it.query(QueryRead(query: query, zone: notes))
                views.append(found.records.map { "\($0.id.recordName) \($0.body)" })
            }
        }
        let range = Query(recordType: "Note", predicate: NumberedNotes.equals("text", .string("B")))
        views.append(try await it.query(QueryRead(query: range, zone: notes)).records.map(\.id.recordName))
        return views
    }

    @Test
    func `clients see the same, whatever the collation and the settings`() async throws {
        let kind = try await EngineUnderTest.withNotes(.postgreSQL)
        let unkind = try await Self.engine(in: try Self.database(Self.settings))
        // Times and numbers of changes are of the same clock, and of an equal history.
        #expect(try await Self.views(unkind) == (try await Self.views(kind)))
        #expect(try await unkind.isOrderWhole())
        #expect(try await unkind.wrongCounters() == [])
        await unkind.store.shutdown()
    }

    // MARK: Sessions

    @Test
    func `sessions that are cut while they are idle cost nothing`() async throws {
        let database = try Self.database(["idle_session_timeout = '500ms'"])
        let it = try await Self.engine(in: database)
        let cluster = try PostgreSQLCluster.running()
        func sessions() throws -> Set<String> {
            let row = try cluster.row(
                "SELECT array_to_string(array_agg(pid::text || backend_start::text), ',') "
                    + "FROM pg_stat_activity WHERE datname = '\(database)' AND pid <> pg_backend_pid()",
                in: database
            )
            return Set(row[0].split(separator: ",").map(String.init))
        }
        for number in 0..<4 {
            #expect(try await it.modify([save("r\(number)")]).areSaved)
            #expect(try await it.fetch([id("r\(number)")])[0].isFound)
            let before = try sessions()
            // The session that looks for changes of others is never idle for so long.
            while try sessions().intersection(before).count > 1 {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        await it.store.shutdown()
    }

    @Test(arguments: [
        ("off", "on"), ("local", "local"), ("remote_write", "remote_write"), ("on", "on"),
        ("remote_apply", "remote_apply"),
    ])
    func `a session commits to the disk, whatever database and role say`(set: String, used: String) throws {
        for level in Level.allCases {
            #expect(try Self.setting("synchronous_commit", begun: set, by: level) == used, "\(level)")
        }
    }

    @Test(arguments: [true, false])
    func `settings without which saves are lost or damaged are named at each start`(
        areOn: Bool
    ) async throws {
        var options = PostgreSQLInstance.Options()
        options.settings = areOn ? ["fsync=on"] : ["fsync=off"]
        options.creation = areOn ? "--data-checksums" : ""
        let instance = try PostgreSQLInstance(options)
        let target = try instance.target()
        // From version 18 on, initdb turns checksums on by itself.
        if !areOn {
            try await instance.stop()
            try? instance.run("pg_checksums --disable -D \(instance.data)")
            try instance.start()
        }
        func named() async throws -> [ClusterNotice] {
            let notices = Mutex<[ClusterNotice]>([])
            let it = try EngineUnderTest(.postgreSQL) { settings in
                settings.postgreSQL = {
                    $0.target = target
                    $0.notice = { notice in notices.withLock { $0.append(notice) } }
                }
            }
            await it.store.shutdown()
            return notices.withLock { all in
                all.filter { if case .unsafeSettings = $0 { true } else { false } }
            }
        }
        #expect(try await named() == (areOn ? [] : [.unsafeSettings(["data_checksums", "fsync"])]))
    }

    @Test
    func `a statement takes as long as it takes, whatever database and role say`() throws {
        for level in Level.allCases {
            #expect(try Self.setting("statement_timeout", begun: "'1s'", by: level) == "0", "\(level)")
        }
        let database = try Self.database(["statement_timeout = '1s'"])
        let slept = try PostgreSQLCluster.running().row("SELECT pg_sleep(1.5)::text", in: database)
        #expect(slept == [""])
    }
}

extension ReadOutcome {
    fileprivate var isFound: Bool { if case .record = self { true } else { false } }
}
