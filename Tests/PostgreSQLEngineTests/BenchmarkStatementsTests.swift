import Foundation
import StorageContract
import Testing

@testable import PostgreSQLEngine
@testable import RecordStore

/// Scripts of `Scripts/bench --engine postgres`, with which pgbench executes the engine's own statements.
@Suite
struct BenchmarkStatementsTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Benchmarks/PostgreSQL/same")

    private static let begin = [TransactionSQL.beginReading, PostgreSQLSnapshot.versions]
    private static let scripts: [(name: String, statements: [SQL])] = [
        ("fetch", [RecordReads.oneByName]),
        ("query-equality", [ListSQL.havingWithRecords]),
        (
            "change-page",
            [
                TableSQL(table: ZoneRow.table).statement(.find(index: 0)),
                TableSQL(table: DatabaseRow.table).statement(.find(index: 0)),
                ListSQL.changes, ListSQL.deletions,
            ]
        ),
    ]

    @Test
    func `pgbench executes what the engine executes`() throws {
        for (name, statements) in Self.scripts {
            let file = Self.folder.appendingPathComponent("\(name).sql")
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            let text = lines.filter { !$0.hasPrefix("\\") }.joined(separator: " ")
            let executed = text.split(separator: ";").map { Self.normal(String($0)) }
            let expected = (Self.begin + statements + [TransactionSQL.commit]).map { Self.normal($0.text) }
            #expect(executed == expected, "\(name)")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(files) == Set(Self.scripts.map { "\($0.name).sql" } + ["functions.sql"]))
    }

    /// The text with one name for every parameter, and one space wherever space is.
    private static func normal(_ text: String) -> String {
        text.replacing(/\$[0-9]+|[a-z_]+\(:[a-z]+\)|:[a-z]+/, with: "?")
            .replacing(/\s+/, with: " ").replacing("( ", with: "(").replacing(" )", with: ")")
            .trimmingCharacters(in: .whitespaces)
    }
}
