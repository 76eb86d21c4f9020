import Foundation
import GRDB
import TestSupport

/// Random transactions on a mirror's file, and the fate of each value that they wrote.
///
/// Every value is written once. One that is replaced or deleted by a transaction which saw it has had
/// its time; any other must be in the tables in the end, or among the overruled ones.
struct RandomSQL {
    static let columns = ["title", "text"]
    private static let names = (0..<12).map { "n\($0)" }

    /// What is written next, in all files.
    private(set) var counter = 0
    private(set) var written: Set<String> = []
    /// Values that a later transaction saw and replaced.
    private(set) var replaced: Set<String> = []

    /// A statement, and the name that it is about.
    private struct Step {
        let sql: String
        let name: String
        /// The columns with the value that it may remove.
        let removes: [String]
        let writes: [String]
    }

    /// Executes a random transaction of one to five statements, in this or in another process.
    mutating func transaction(
        on path: String,
        byPython: Bool,
        using generator: inout SeededGenerator
    ) async throws {
        var steps: [Step] = []
        for _ in 0..<Int.random(in: 1...5, using: &generator) { steps.append(self.step(&generator)) }
        // Values are what the rows had within the transaction, before each statement.
        let lines = byPython ? try await Self.python(path, steps) : try Self.grdb(path, steps)
        for (step, line) in zip(steps, lines) {
            guard line.isDone else { continue }
            self.replaced.formUnion(line.removed)
            self.written.formUnion(step.writes)
        }
    }

    private mutating func step(_ generator: inout SeededGenerator) -> Step {
        let name = Self.names.randomElement(using: &generator) ?? ""
        func value() -> String {
            self.counter += 1
            return "v\(self.counter)"
        }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<3:
            let (title, text) = (value(), value())
            return Step(
                sql: """
                    INSERT INTO Note (___recordName, title, text) SELECT '\(name)', '\(title)', '\(text)' \
                    WHERE NOT EXISTS (SELECT 1 FROM Note WHERE ___recordName = '\(name)')
                    """,
                name: name,
                removes: [],
                writes: [title, text]
            )
        case 3:
            return Step(
                sql: "DELETE FROM Note WHERE ___recordName = '\(name)'",
                name: name,
                removes: Self.columns,
                writes: []
            )
        default:
            let column = Self.columns.randomElement(using: &generator) ?? ""
            let text = value()
            return Step(
                sql: "UPDATE Note SET \(column) = '\(text)' WHERE ___recordName = '\(name)'",
                name: name,
                removes: [column],
                writes: [text]
            )
        }
    }

    private struct Line: Decodable {
        var removed: [String]
        var isDone: Bool
    }

    private static func grdb(_ path: String, _ steps: [Step]) throws -> [Line] {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return try DatabaseQueue(path: path, configuration: configuration).write { database in
            try steps.map { step in
                let row = try Row.fetchOne(
                    database,
                    sql: "SELECT title, text FROM Note WHERE ___recordName = ?",
                    arguments: [step.name]
                )
                let removed = row.map { row in step.removes.compactMap { row[$0] as String? } }
                try database.execute(sql: step.sql)
                return Line(removed: removed ?? [], isDone: database.changesCount > 0)
            }
        }
    }

    private static func python(_ path: String, _ steps: [Step]) async throws -> [Line] {
        let script = """
            import json, sqlite3, sys
            file = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)
            file.execute("PRAGMA synchronous = FULL")
            file.execute("BEGIN IMMEDIATE")
            lines = []
            for sql, name, removes in json.loads(sys.argv[2]):
                row = file.execute("SELECT title, text FROM Note WHERE ___recordName = ?", [name]).fetchone()
                values = dict(zip(["title", "text"], row)) if row else {}
                removed = [values[c] for c in removes if values.get(c) is not None]
                lines.append({"removed": removed, "isDone": file.execute(sql).rowcount > 0})
            file.execute("COMMIT")
            print(json.dumps(lines))
            """
        let arguments = steps.map { [$0.sql, $0.name, $0.removes] as [Any] }
        let json = try JSONSerialization.data(withJSONObject: arguments)
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["python3", "-c", script, path, String(decoding: json, as: UTF8.self)]
        )
        guard outcome.exitCode == 0 else { throw PythonFailure(text: outcome.errors) }
        return try JSONDecoder().decode([Line].self, from: Data(outcome.output.utf8))
    }
}
