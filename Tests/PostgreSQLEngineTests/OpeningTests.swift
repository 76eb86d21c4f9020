import EngineThreads
import PostgreSQLCluster
import StorageContract
import TestSupport
import Testing

@testable import PostgreSQLEngine
@testable import RecordStore

/// Faults of a server or a database, each with its error.
@Suite(.timeLimit(.minutes(10)))
struct OpeningTests {
    private static func open(
        _ target: ConnectionTarget,
        _ role: PostgreSQLEngineConfiguration.Role = .command(makesTables: true)
    ) throws(PostgreSQLEngineError) -> PostgreSQLEngine {
        try PostgreSQLEngine(
            configuration: PostgreSQLEngineConfiguration(
                target: target,
                role: role,
                housekeeping: Housekeeping.maker()
            ),
            clock: { 0 },
            report: { _ in }
        )
    }

    private static func failure(
        _ target: ConnectionTarget,
        _ role: PostgreSQLEngineConfiguration.Role = .command(makesTables: true)
    ) -> PostgreSQLEngineError? {
        do throws(PostgreSQLEngineError) {
            _ = try self.open(target, role)
            return nil
        } catch {
            return error
        }
    }

    @Test
    func `a server that is not there is unreachable`() throws {
        let target = try ConnectionTarget("postgresql:///tidemark?host=/tmp/no-such-folder")
        guard case .unreachable(let text, let reason)? = Self.failure(target) else {
            Issue.record("reached")
            return
        }
        #expect(text == "tidemark on /tmp/no-such-folder")
        #expect(reason.contains("No such file"))
    }

    @Test
    func `a wrong password, none, and an unknown user are refused`() throws {
        let cluster = try PostgreSQLCluster.running()
        let name = try cluster.emptyDatabase()
        let guarded = PostgreSQLCluster.guardedUser
        for password in ["wrong", nil] {
            let url = cluster.url(database: name, user: guarded.name, password: password)
            guard case .accessDenied? = Self.failure(try ConnectionTarget(url)) else {
                Issue.record("let in with \(password ?? "no password")")
                continue
            }
        }
        guard case .accessDenied? = Self.failure(try cluster.target(database: name, user: "nobody")) else {
            Issue.record("let in an unknown user")
            return
        }
        // With the password the user is let in, and may make no schema in a database of somebody else.
        let url = cluster.url(database: name, user: guarded.name, password: guarded.password)
        guard case .notPermitted? = Self.failure(try ConnectionTarget(url)) else {
            Issue.record("made tables")
            return
        }
    }

    @Test
    func `no message names the password`() throws {
        let url = "postgresql://me:topsecret@db.example.org:5433/notes?sslmode=verify-full"
        #expect(try ConnectionTarget(url).text == "notes on db.example.org:5433")
    }

    @Test
    func `a database that is not there is missing`() throws {
        let target = try PostgreSQLCluster.running().target(database: "no_such_database")
        guard case .databaseMissing? = Self.failure(target) else {
            Issue.record("found")
            return
        }
    }

    @Test
    func `a database without tables is no store for a command`() throws {
        let cluster = try PostgreSQLCluster.running()
        let target = try cluster.target(database: cluster.emptyDatabase())
        guard case .isMissing? = Self.failure(target, .command(makesTables: false)) else {
            Issue.record("opened")
            return
        }
        _ = try Self.open(target)
        #expect(Self.failure(target, .command(makesTables: false)) == nil)
    }

    @Test(arguments: ["SQL_ASCII", "LATIN1", "EUC_JP"])
    func `a database of another encoding is refused`(encoding: String) throws {
        let cluster = try PostgreSQLCluster.running()
        let name = try cluster.emptyDatabase("ENCODING '\(encoding)' LC_COLLATE 'C' LC_CTYPE 'C'")
        #expect(Self.failure(try cluster.target(database: name)) == .wrongEncoding(found: encoding))
    }

    @Test
    func `names are in the order of their bytes, whatever the collation of the database`() throws {
        let cluster = try PostgreSQLCluster.running()
        // One that looks at neither case nor punctuation first.
        let name = try cluster.emptyDatabase(
            "LOCALE_PROVIDER icu ICU_LOCALE 'und-u-ka-shifted' LOCALE 'C.UTF-8'"
        )
        let words = ["b", "B", "a-c", "ab", "Ä", "ä", "z", "_a", "\u{1F600}"]
        let sorted = try cluster.row(
            "SELECT string_agg(w, ' ' ORDER BY w) FROM unnest('{\(words.joined(separator: ","))}'::text[]) AS w",
            in: name
        )
        let byBytes = words.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        #expect(sorted[0] != byBytes.joined(separator: " "), "the database has a collation of its own")
        let engine = try Self.open(try cluster.target(database: name))
        try engine.administer { transaction in
            for word in words { try transaction.put(SecretRow(name: word, bytes: [1])) }
        }
        let names = try engine.readTables { try $0.rows(RowRange(SecretRow.byKey)).map(\.name) }
        #expect(names == byBytes)
        // No text of any table is compared in another way.
        let others = try cluster.row(
            """
            SELECT count(*)::text FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
            JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_collation AS o ON o.oid = a.attcollation
            WHERE n.nspname = 'tidemark' AND c.relkind = 'i' AND o.collname <> 'C'
            """,
            in: name
        )
        #expect(others == ["0"])
    }

    @Test
    func `a database that is read only is refused`() throws {
        let cluster = try PostgreSQLCluster.running()
        let name = try cluster.emptyDatabase()
        try cluster.administer("ALTER DATABASE \(name) SET default_transaction_read_only = on")
        guard case .isReadOnly? = Self.failure(try cluster.target(database: name)) else {
            Issue.record("opened")
            return
        }
    }

    @Test
    func `a server that is too old, and tables of a later format, are refused`() throws {
        #expect(throws: PostgreSQLEngineError.serverTooOld(found: 14, needed: 15)) {
            try StoreOpening.check(version: 140_012, encoding: "UTF8")
        }
        let cluster = try PostgreSQLCluster.running()
        let target = try cluster.target(database: cluster.emptyDatabase())
        try PostgreSQLEngine.prepare(target)
        let connection = try PostgreSQLConnection(target)
        _ = try connection.query(SQL("UPDATE tidemark.store SET format = 2", reach: .store))
        for role in [PostgreSQLEngineConfiguration.Role.command(makesTables: true), .server(node: "n")] {
            #expect(Self.failure(target, role) == .formatTooNew(found: 2, known: 1))
        }
    }

    @Test(arguments: ["postgresql://[::1/", "nonsense", "sslmode"])
    func `a URL that is none says why`(url: String) {
        #expect(throws: PostgreSQLError.self) { try ConnectionTarget(url) }
    }

    @Test
    func `two processes that make the tables at once both find them`() async throws {
        let cluster = try PostgreSQLCluster.running()
        let target = try cluster.target(database: cluster.emptyDatabase())
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 { group.addTask { try PostgreSQLEngine.prepare(target) } }
            try await group.waitForAll()
        }
    }

    @Test(arguments: [1, 2, 3])
    func `tables of a version before the first release are refused, and left as they are`(
        format: Int
    ) throws {
        let cluster = try PostgreSQLCluster.running()
        let name = try cluster.emptyDatabase()
        let target = try cluster.target(database: name)
        try PostgreSQLEngine.prepare(target)
        try cluster.row("ALTER TABLE tidemark.store DROP COLUMN release", in: name)
        try cluster.row("UPDATE tidemark.store SET format = \(format)", in: name)
        for role in [PostgreSQLEngineConfiguration.Role.command(makesTables: true), .server(node: "n")] {
            #expect(Self.failure(target, role) == .formatUnreleased)
        }
        #expect(throws: PostgreSQLEngineError.formatUnreleased) { try PostgreSQLEngine.check(target) }
        let left = try cluster.row(
            "SELECT format::text, (SELECT count(*)::text FROM tidemark.node) FROM tidemark.store",
            in: name
        )
        #expect(left == ["\(format)", "0"])
    }
}
