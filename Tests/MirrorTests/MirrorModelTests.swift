import CloudKit
import Foundation
import GRDB
import TestSupport
import Testing

/// Two mirrors in processes of their own get random SQL while they and their server are killed.
@Suite(.timeLimit(.minutes(30)))
struct MirrorModelTests {
    private static let container = "iCloud.mirror"

    private static var rounds: Int {
        ProcessInfo.processInfo.environment["TIDEMARK_MIRROR_ROUNDS"].flatMap { Int($0) } ?? 2
    }

    @Test
    func `killed mirrors and servers lose no change, and the tables are the server's`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("MirrorModelTests: SEED=\(generator.seed), \(Self.rounds) rounds")
        let server = try ServerProcess()
        try await server.administer(["container", "create", Self.container])
        let token = try await server.administer(["user", "add", "alice", "--container", Self.container])
        try await server.start()
        let folder = try TemporaryDirectory()
        let environment = [
            "TIDEMARK_URL": "tidemark://localhost:\(server.port)", "TIDEMARK_TOKEN": token,
            "TIDEMARK_CA": server.authorityPath, "TIDEMARK_CONTAINER": Self.container,
        ]
        let mirrors = ["a", "b"].map { MirrorProcess($0, in: folder, environment) }
        for mirror in mirrors {
            let made = try await mirror.settle(
                ["--zone", "desk", "--table", "Note title:string:indexed text:string"]
            )
            try #require(made.exitCode == 0, "\(made.errors)")
        }
        var sql = RandomSQL()
        for _ in 0..<Self.rounds {
            try await Self.round(server, mirrors, &sql, &generator)
            try await Self.check(server, mirrors, sql, token)
        }
        #expect(sql.written.count >= Self.rounds)
        #expect(await server.end(SIGTERM) == 0)
    }

    /// Writes to both files while processes come and go.
    private static func round(
        _ server: ServerProcess,
        _ mirrors: [MirrorProcess],
        _ sql: inout RandomSQL,
        _ generator: inout SeededGenerator
    ) async throws {
        let killAt = Int.random(in: 0..<30, using: &generator)
        for step in 0..<40 {
            let mirror = mirrors[Int.random(in: 0...1, using: &generator)]
            let byPython = Int.random(in: 0..<8, using: &generator) == 0
            try await sql.transaction(on: mirror.path, byPython: byPython, using: &generator)
            let other = mirrors[Int.random(in: 0...1, using: &generator)]
            if !other.isRunning {
                try other.start()
            } else if Int.random(in: 0..<6, using: &generator) == 0 {
                await other.end(Bool.random(using: &generator) ? SIGKILL : SIGTERM)
            }
            if step == killAt { await server.end(SIGKILL) }
            if step == killAt + 8 { try await server.start() }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...60, using: &generator)))
        }
        for mirror in mirrors { await mirror.end(SIGKILL) }
    }

    /// Lets both mirrors come to rest, and compares.
    private static func check(
        _ server: ServerProcess,
        _ mirrors: [MirrorProcess],
        _ sql: RandomSQL,
        _ token: String
    ) async throws {
        // The first sends, the second merges and sends, and each fetches what the other has sent.
        for mirror in mirrors + mirrors + mirrors {
            let outcome = try await mirror.settle()
            try #require(outcome.exitCode == 0, "\(outcome.errors)")
        }
        let records = try await Self.records(server, token)
        var fates = sql.replaced
        for record in records.values { fates.formUnion(record) }
        for mirror in mirrors {
            let (rows, overruled) = try Self.contents(mirror.path)
            #expect(rows == records, "\(mirror.path)")
            for text in overruled {
                fates.formUnion(text.matches(of: /v\d+/).map { String($0.output) })
            }
        }
        #expect(sql.written.subtracting(fates).sorted() == [])
    }

    /// The server's records.
    private static func records(
        _ server: ServerProcess,
        _ token: String
    ) async throws -> [String: [String]] {
        let container = CKContainer(
            identifier: Self.container,
            connection: CKServerConnection(
                url: "tidemark://localhost:\(server.port)",
                token: token,
                certificateAuthority: .file(server.authorityPath)
            )
        )
        var records: [String: [String]] = [:]
        let zone = CKRecordZone.ID(zoneName: "desk")
        for try await page in container.privateCloudDatabase.zoneSnapshot(of: zone) {
            for record in page.records {
                records[record.recordID.recordName] = RandomSQL.columns.map { record[$0] as String? ?? "" }
            }
            for deletion in page.deletions { records[deletion.recordID.recordName] = nil }
        }
        return records
    }

    /// The rows of a file, and its overruled values.
    private static func contents(_ path: String) throws -> ([String: [String]], [String]) {
        try DatabaseQueue(path: path).read { database in
            var rows: [String: [String]] = [:]
            for row in try Row.fetchAll(database, sql: "SELECT ___recordName, title, text FROM Note") {
                rows[row["___recordName"]] = RandomSQL.columns.map { row[$0] ?? "" }
            }
            let left = try Int.fetchOne(database, sql: "SELECT count(*) FROM tidemark_pending")
            #expect(left == 0)
            let overruled = try String.fetchAll(
                database,
                sql: """
                    SELECT coalesce(ancestor, '') || ' ' || coalesce(mine, '') || ' ' || coalesce(theirs, '')
                    FROM tidemark_conflict
                    """
            )
            return (rows, overruled)
        }
    }
}
