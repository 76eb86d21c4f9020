import CloudKit
import CloudKitMirror
import CloudKitTesting
import Foundation
import GRDB
import TestSupport
import Testing

/// A zone of a user's private database, with mirrors of it.
struct MirrorDesk {
    static let zone = CKRecordZone.ID(zoneName: "desk")
    static let notes = MirrorTable(
        "Note",
        columns: [
            .init("title", .string, isIndexed: true), .init("pages", .int64), .init("weight", .double),
            .init("due", .date), .init("data", .bytes), .init("secret", .string, isEncrypted: true),
            .init("about", .reference),
        ]
    )

    let server: TestServer
    let folder: TemporaryDirectory
    /// Another device of the user.
    let database: CKDatabase

    static func run(_ body: (MirrorDesk) async throws -> Void) async throws {
        try await TestServer.run { server in
            try await body(
                MirrorDesk(
                    server: server,
                    folder: try TemporaryDirectory(),
                    database: try await server.container(for: "alice").privateCloudDatabase
                )
            )
        }
    }

    func path(_ name: String) -> String { "\(self.folder.path)/\(name).sqlite" }

    func mirror(
        _ name: String = "a",
        tables: [MirrorTable] = [Self.notes],
        conflicts: MirrorConflictPolicy = .fieldwise
    ) async throws -> Mirror {
        try await Mirror(
            at: self.path(name),
            of: try await self.server.container(for: "alice"),
            .init(zones: [Self.zone.zoneName], tables: tables, conflicts: conflicts)
        )
    }

    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: Self.zone) }

    /// Saves fields from the other device, whatever the server has.
    func save(_ name: String, _ fields: [String: any CKRecordValueProtocol]) async throws {
        let record: CKRecord
        do {
            record = try await self.database.record(for: self.id(name))
        } catch let error as CKError where error.code == .unknownItem {
            record = CKRecord(recordType: "Note", recordID: self.id(name))
        }
        for (key, value) in fields { record[key] = value }
        try await self.database.save(record)
    }

    /// The titles of the server's notes, by name.
    func titles() async throws -> [String: String] {
        var titles: [String: String] = [:]
        var token: CKServerChangeToken?
        while true {
            let page = try await self.database.recordZoneChanges(inZoneWith: Self.zone, since: token)
            for (id, result) in page.modificationResultsByID {
                titles[id.recordName] = try result.get().record["title"] as String? ?? ""
            }
            token = page.changeToken
            if !page.moreComing { return titles }
        }
    }
}

extension Mirror {
    /// Writes one statement.
    func execute(_ sql: String) async throws {
        try await self.write { try $0.execute(sql: sql) }
    }

    func titles() async throws -> [String: String] {
        try await self.read { database in
            let rows = try Row.fetchAll(database, sql: "SELECT ___recordName, title FROM Note")
            return Dictionary(
                uniqueKeysWithValues: rows.map { ($0["___recordName"], $0["title"] ?? "") }
            )
        }
    }

    /// Waits until the file and the server have the same.
    func settle(_ location: SourceLocation = #_sourceLocation) async throws {
        #expect(try await self.waitUntilCurrent(timeout: .seconds(30)), sourceLocation: location)
    }
}

/// Executes SQL in a process of another language, and returns its rows as lines.
func python(_ path: String, _ sql: String) async throws -> String {
    let script = """
        import sqlite3, sys
        file = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)
        for statement in sys.argv[2].split(";"):
            for row in file.execute(statement):
                print(*row)
        """
    let outcome = try await ChildProcess.run(
        URL(fileURLWithPath: "/usr/bin/env"),
        ["python3", "-c", script, path, sql]
    )
    guard outcome.exitCode == 0 else { throw PythonFailure(text: outcome.errors) }
    return outcome.output
}

struct PythonFailure: Error {
    let text: String
}
