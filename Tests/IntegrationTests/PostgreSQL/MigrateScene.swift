import CloudKit
import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

/// A server with a store of all kinds of rows, and an empty database of PostgreSQL.
struct MigrateScene {
    let backup: BackupScene
    let url: String
    /// The name of the database.
    let database: String

    var data: String { self.backup.server.dataPath }

    /// Runs a body with the server running.
    static func run(_ body: (MigrateScene) async throws -> Void) async throws {
        let cluster = try PostgreSQLCluster.running()
        let database = try cluster.emptyDatabase()
        // No standby follows the cluster of the tests.
        try await BackupScene.run(settings: ["--database-sync", "off"]) { backup in
            let scene = MigrateScene(backup: backup, url: cluster.url(database: database), database: database)
            try await body(scene)
        }
    }

    /// Saves records with references, files and deletions, and keeps a history of them; shares, subscribes,
    /// and lets in users and a service.
    func fill(records: Int) async throws {
        let server = self.backup.server
        let place = ["--container", BackupScene.containerID]
        try await server.administer(["container", "history", BackupScene.containerID, "--days", "7"])
        try await server.administer(["user", "add", "carol"] + place)
        let bob = try await self.addUser("bob")
        let database = self.backup.database()
        let root = self.backup.record("root", ["text": "x"])
        _ = try await database.modifyRecords(saving: [root, self.backup.record("apart")], deleting: [])
        for start in stride(from: 0, to: records, by: 200) {
            let batch = (start..<min(start + 200, records)).map { number in
                let record = self.backup.record("r\(number)", ["text": "note \(number) é", "count": number])
                record["list"] = ["a", "b \(number)"]
                if number % 5 == 0 { record.setParent(root) }
                return record
            }
            _ = try await database.modifyRecords(saving: batch, deleting: [])
        }
        for number in 1...3 {
            let file = try self.backup.files.asset("file-\(number)", bytes: 200_000, seed: UInt64(number))
            try await database.save(self.backup.record("file-\(number)", ["file": file]))
        }
        let gone = (0..<20).map { CKRecord.ID(recordName: "r\($0)", zoneID: self.backup.zone) }
        _ = try await database.modifyRecords(saving: [], deleting: gone)
        let share = CKShare(rootRecord: try await database.record(for: root.recordID))
        share.publicPermission = .readWrite
        let fetched = try await database.record(for: root.recordID)
        let saved = try await database.modifyRecords(saving: [fetched, share], deleting: [])
        let url = try #require(try saved.saveResults[share.recordID]?.get() as? CKShare).url
        _ = try await bob.accept(bob.shareMetadata(for: #require(url)))
        let subscription = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(format: "count > 5"),
            subscriptionID: "many",
            options: [.firesOnRecordCreation]
        )
        _ = try await database.save(subscription)
    }

    private func addUser(_ name: String) async throws -> CKContainer {
        let token = try await self.backup.server.administer(
            ["user", "add", name, "--container", BackupScene.containerID]
        )
        let connection = CKServerConnection(
            url: "tidemark://localhost:\(self.backup.server.port)",
            token: token,
            certificateAuthority: .file(self.backup.server.authorityPath)
        )
        return CKContainer(identifier: BackupScene.containerID, connection: connection)
    }

    // MARK: Commands

    func start(_ arguments: String...) throws -> ChildProcess {
        try ChildProcess(ChildProcess.tidemark, ["migrate"] + arguments)
    }

    func there(_ arguments: String...) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            ["migrate", "--from", self.data, "--to", self.url] + arguments
        )
    }

    func back(_ arguments: String..., to data: String? = nil) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            ["migrate", "--from", self.url, "--to", data ?? self.data] + arguments
        )
    }

    /// Executes a statement in the database, and returns the first column.
    func query(_ text: String) async throws -> String {
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/psql"),
            ["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", text, self.url]
        )
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: A move that stands still

    /// Lets a move wait where it adds rows to a table, whatever the speed of the machine.
    func holdMove(at table: String) async throws {
        _ = try await self.query(
            """
            CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_sleep(3600); RETURN NEW; END';
            CREATE FUNCTION public.hold() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
                IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands()
                    WHERE object_identity = 'tidemark.\(table)') THEN
                    CREATE TRIGGER hold BEFORE INSERT ON tidemark.\(table) FOR EACH ROW
                        EXECUTE FUNCTION public.wait();
                END IF;
            END $$;
            CREATE EVENT TRIGGER hold ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
                EXECUTE FUNCTION public.hold();
            """
        )
    }

    func isMoveHeld() async throws -> Bool {
        try await self.query("SELECT count(*) > 0 FROM (\(Self.held)) AS held") == "t"
    }

    /// Ends the session of a move that was held, and lets others pass.
    func endHold() async throws {
        _ = try await self.query(
            """
            SELECT count(pg_terminate_backend(pid, 60000)) FROM (\(Self.held)) AS held;
            DROP EVENT TRIGGER hold; DROP FUNCTION public.hold; DROP FUNCTION public.wait CASCADE;
            """
        )
    }

    private static let held = """
        SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'
        """

    func has(_ file: String) -> Bool { FileManager.default.fileExists(atPath: self.data + "/" + file) }

    /// The hashes of a report, by table.
    static func hashes(_ outcome: ChildProcess.Outcome) throws -> [String: String] {
        let report = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        let tables = try #require(report?["tables"] as? [[String: Any]])
        return tables.reduce(into: [:]) { hashes, table in
            if let name = table["table"] as? String { hashes[name] = table["sha256"] as? String }
        }
    }
}
