import Foundation
import PostgreSQLCluster
import StorageContract
import TestSupport
import Testing

@testable import PostgreSQLEngine
@testable import RecordStore

/// Words that a statement may not use, and rows that it may reach.
@Suite(.timeLimit(.minutes(10)))
struct DialectTests {
    @Test(arguments: [
        "LISTEN news", "NOTIFY news", "SELECT pg_notify('a', 'b')", "SELECT pg_advisory_xact_lock(1)",
        "CREATE TEMP TABLE t (n bigint)", "CREATE TRIGGER t BEFORE UPDATE ON a EXECUTE FUNCTION f()",
        "CREATE TABLE t (n bigint REFERENCES u)", "SELECT nextval('s')", "CREATE TABLE t (n bigserial)",
        "SELECT n FROM t WHERE n = 1 FOR SHARE", "SELECT ctid FROM t", "SELECT xmin FROM t",
    ])
    func `words that other servers lack, or that hold up others, are found`(text: String) {
        #expect(Dialect.faults(in: SQL(text, reach: .store)).count == 1)
    }

    @Test
    func `a statement on contents names its database by a parameter`() {
        let free = "SELECT body FROM tidemark.record WHERE zone = $1"
        #expect(!Dialect.faults(in: SQL(free)).isEmpty)
        #expect(!Dialect.faults(in: SQL(free, reach: .directory)).isEmpty)
        #expect(Dialect.faults(in: SQL(free, reach: .store)).isEmpty)
        #expect(Dialect.faults(in: SQL(free + " AND database = $2")).isEmpty)
        #expect(!Dialect.faults(in: SQL("SELECT body FROM tidemark.record WHERE database = 1")).isEmpty)
        #expect(Dialect.faults(in: SQL("INSERT INTO tidemark.hold (database, zone) VALUES ($1, $2)")).isEmpty)
        // A table of the directory may have a name that is a word.
        let quoted = #"SELECT "share" FROM tidemark."share" WHERE "number" = $1"#
        #expect(Dialect.faults(in: SQL(quoted, reach: .directory)).isEmpty)
    }

    @Test
    func `the statements of every declared table are clean`() {
        for table in Table.all {
            let sql = TableSQL(table: table)
            var operations: [TableOperation] = [.put, .delete]
            for index in table.indexes {
                operations += [.find(index: index.offset), .findAll(index: index.offset)]
                let range = TableShape(TableRange(index: index, after: [.integer(1)]))
                operations += [.range(range), .count(range), .deleteRange(range)]
            }
            for operation in operations {
                #expect(Dialect.faults(in: sql.statement(operation)).isEmpty)
            }
        }
        for statement in StoreTables.definition { #expect(Dialect.faults(in: statement).isEmpty) }
    }

    @Test
    func `no source of the engine has such words in a statement, prepared or not`() throws {
        let folder = ProtocolFiles.folder.deletingLastPathComponent()
            .appendingPathComponent("Sources/PostgreSQLEngine")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var statements = 0
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift", file.lastPathComponent != "SQL.swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            statements += text.matches(of: /\b(SELECT|INSERT|UPDATE|DELETE|CREATE)\b/).count
            let words =
                /\b(LISTEN|NOTIFY|pg_notify|pg_(try_)?advisory\w*|TEMP|TEMPORARY|TRIGGER|REFERENCES|nextval|SEQUENCE|SERIAL|BIGSERIAL)\b|FOR (KEY )?SHARE/
            #expect(text.firstMatch(of: words) == nil, "\(file.lastPathComponent)")
        }
        #expect(statements > 80)
    }

    @Test
    func `every table that the store declares is made`() throws {
        let folder = ProtocolFiles.folder.deletingLastPathComponent()
            .appendingPathComponent("Sources/StorageContract/Tables")
        var declared: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: #/let table = Table\(\s*"(\w+)"/#) {
                declared.insert(String(match.output.1))
            }
        }
        #expect(declared.count > 30)
        #expect(Set(Table.all.map(\.name)) == declared)
    }
}
