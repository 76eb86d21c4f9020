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
        switch self.it.kind {
        case .postgreSQL, .postgreSQLWithFailures:
            let cluster = try PostgreSQLCluster.running()
            let target = try cluster.target(standingFor: self.it.folder.path)
            return try cluster.row(
                text.replacingOccurrences(of: "@", with: "tidemark."),
                in: try #require(target.databaseName)
            )
        case .sqlite, .sqliteWithFailures, .memory:
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.standardOutput = output
            process.arguments = [
                "python3", "-c",
                """
                import os, sqlite3, sys
                connection = sqlite3.connect(sys.argv[1], timeout=30)
                for row in connection.execute(sys.argv[2]).fetchall()[:1]: print(*row, sep="\\n")
                connection.commit()
                # Leaves what it wrote in the log: the pages of the file have checksums.
                sys.stdout.flush()
                os._exit(0)
                """,
                self.it.folder.path + "/tidemark.sqlite", text.replacingOccurrences(of: "@", with: ""),
            ]
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
            let bytes = output.fileHandleForReading.readDataToEndOfFile()
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }
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
