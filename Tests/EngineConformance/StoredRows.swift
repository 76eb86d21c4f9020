import Foundation
import PostgreSQLCluster
import PostgreSQLEngine
import RecordModel
import RecordStore
import StorageContract
import Synchronization
import TestSupport
import Testing

/// What a failing disk does to rows, and what rows say: beside the engine, in SQL.
struct StoredRows {
    /// The engines that have files.
    static let kinds: [EngineKind] = [.sqlite, .postgreSQL]

    private let it: EngineUnderTest

    init(of it: EngineUnderTest) { self.it = it }

    /// Executes a statement in which `@` stands before each table, and returns its first row.
    @discardableResult
    func execute(_ text: String) throws -> [String] {
        guard let database = try self.database() else {
            return try self.inFile(
                """
                for row in connection.execute(sys.argv[2]).fetchall()[:1]: print(*row, sep="\\n")
                """,
                [text]
            )
        }
        return try PostgreSQLCluster.running().row(Self.named(text), in: database)
    }

    /// Executes statements one by one, and passes over those that a constraint refuses.
    func attempt(_ statements: [String]) throws {
        guard let database = try self.database() else {
            _ = try self.inFile(
                """
                for text in sys.argv[2:]:
                    try: connection.execute(text)
                    except sqlite3.Error: pass
                """,
                statements
            )
            return
        }
        for text in statements {
            _ = try? PostgreSQLCluster.running().execute(script: Self.named(text), in: database)
        }
    }

    private static func named(_ text: String) -> String {
        text.replacingOccurrences(of: "@", with: "tidemark.")
    }

    /// The database of PostgreSQL; `nil` if the store is a file.
    private func database() throws -> String? {
        switch self.it.kind {
        case .postgreSQL, .postgreSQLWithFailures:
            let target = try PostgreSQLCluster.running().target(standingFor: self.it.folder.path)
            let name: String = try #require(target.databaseName)
            return name
        case .sqlite, .sqliteWithFailures, .memory: return nil
        }
    }

    /// Runs a script with a connection to the file, and returns the lines that it prints.
    private func inFile(_ script: String, _ statements: [String]) throws -> [String] {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.standardOutput = output
        process.arguments =
            [
                "python3", "-c",
                """
                import os, sqlite3, sys
                connection = sqlite3.connect(sys.argv[1], timeout=30)
                \(script)
                connection.commit()
                # Leaves what it wrote in the log: the pages of the file have checksums.
                sys.stdout.flush()
                os._exit(0)
                """,
                self.it.folder.path + "/tidemark.sqlite",
            ] + statements.map { $0.replacingOccurrences(of: "@", with: "") }
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Stores other bytes in place of a record's body.
    func replaceBody(of name: String, with bytes: [UInt8]) throws {
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let literal = self.it.kind == .postgreSQL ? "'\\x\(hex)'" : "X'\(hex)'"
        try self.execute("UPDATE @record SET body = \(literal) WHERE name = '\(name)'")
    }

    /// The same engine, after a record's body has become as many bytes that are no fields.
    ///
    /// An engine may remember what it wrote, so it is opened again.
    func damaging(_ name: String) async throws -> EngineUnderTest {
        let count = try #require(try await self.it.record(id(name))).body.bytes.count
        try self.replaceBody(of: name, with: [UInt8](repeating: 0xFF, count: count))
        return try await self.it.reopened()
    }
}

/// Takes a page as a connection does: records are passed on, and a client finds out what can be read.
final class PassedRecords: FeedSink {
    private let kept = KeptRecords()

    var readsFields: Bool { false }
    /// Names, with an exclamation mark behind those whose fields cannot be read.
    var words: [String] {
        self.kept.records.withLock { $0.map { $0.id.recordName + ($0.body.isIntact ? "" : "!") } }
    }

    func enter(_ zone: ZoneID) { self.kept.enter(zone) }
    func add(_ record: borrowing LentRecord) { self.kept.add(record) }
    func removeAll() { self.kept.removeAll() }
    func add(_ deleted: DeletedRecord) {}
    func add(changed zone: ZoneID) {}
    func add(deleted zone: ZoneID) {}

    func page(_ read: FeedRead, of it: EngineUnderTest) async throws -> FeedPageEnd {
        try await withCheckedContinuation { continuation in
            it.store.changes(read, for: it.privately, into: self) { continuation.resume(returning: $0) }
        }.get()
    }

    func page(_ read: QueryRead, of it: EngineUnderTest) async throws -> QueryPageResult {
        try await withCheckedContinuation { continuation in
            it.store.query(read, for: it.privately, into: self) { continuation.resume(returning: $0) }
        }.get()
    }
}
