import CloudKit
import Foundation
import Synchronization
import TestSupport
import Testing

/// A server with a user, and folders for backups of it.
final class BackupScene {
    static let containerID = "iCloud.backup"

    let server: ServerProcess
    let files: SampleFiles
    private let token: String
    let zone = CKRecordZone.ID(zoneName: "desk")

    var folder: String { self.server.folder.path }

    static func run(settings: [String] = [], _ body: (BackupScene) async throws -> Void) async throws {
        let scene = try await BackupScene(settings: settings)
        try await scene.server.start()
        _ = try await scene.database().save(CKRecordZone(zoneID: scene.zone))
        try await body(scene)
        #expect(await scene.server.end(SIGTERM) == 0)
    }

    private init(settings: [String]) async throws {
        self.server = try ServerProcess(settings: settings)
        self.files = try SampleFiles()
        try await self.server.administer(["container", "create", Self.containerID])
        self.token = try await self.server.administer(
            ["user", "add", "alice", "--container", Self.containerID]
        )
    }

    /// The user's database, for a device with a connection of its own.
    ///
    /// One that takes the place of another knows what that was told. All devices are one installation
    /// unless one is named.
    func database(
        _ device: String = "first",
        inPlaceOf other: String? = nil,
        installation: String? = nil
    ) -> CKDatabase {
        var connection = CKServerConnection(
            url: "tidemark://localhost:\(self.server.port)",
            token: self.token,
            certificateAuthority: .file(self.server.authorityPath)
        )
        connection.installationName = installation
        connection.cacheFolder = self.files.url("cache-\(device)").path
        connection.ledgerFolder = self.files.url("ledgers-\(other ?? device)").path
        return CKContainer(identifier: Self.containerID, connection: connection).privateCloudDatabase
    }

    /// Starts `tidemark-listen` of an installation that keeps what it keeps in a folder.
    func listener(in folder: TemporaryDirectory, _ arguments: String...) throws -> ListenerProcess {
        ListenerProcess(
            process: try ChildProcess(
                ChildProcess.buildFolder.appendingPathComponent("tidemark-listen"),
                arguments,
                environment: [
                    "TIDEMARK_URL": "tidemark://localhost:\(self.server.port)", "TIDEMARK_TOKEN": self.token,
                    "TIDEMARK_CA": self.server.authorityPath, "TIDEMARK_CONTAINER": Self.containerID,
                    "XDG_STATE_HOME": folder.path,
                ]
            ),
            folder: folder
        )
    }

    func record(_ name: String, _ fields: [String: any CKRecordValueProtocol] = [:]) -> CKRecord {
        let id = CKRecord.ID(recordName: name, zoneID: self.zone)
        let record = CKRecord(recordType: "Note", recordID: id)
        for (key, value) in fields { record[key] = value }
        return record
    }

    /// Names of all records of the zone.
    func names() async throws -> Set<String> {
        var names: Set<String> = []
        var token: CKServerChangeToken?
        while true {
            let page = try await self.database().recordZoneChanges(inZoneWith: self.zone, since: token)
            names.formUnion(page.modificationResultsByID.keys.map(\.recordName))
            token = page.changeToken
            guard page.moreComing else { return names }
        }
    }

    // MARK: Commands

    func path(_ name: String) -> String { self.folder + "/" + name }

    func backUp(to name: String) async throws -> ChildProcess.Outcome {
        try await ChildProcess.tidemark("backup", "--data", self.server.dataPath, "--to", self.path(name))
    }

    func restore(_ backup: String, to data: String) async throws -> ChildProcess.Outcome {
        try await ChildProcess.tidemark(
            "restore",
            "--from",
            self.path(backup),
            "--data",
            self.path(data)
        )
    }

    /// Loses the server and its data, and starts another on what was restored.
    func loseAndRestore(_ backup: String) async throws {
        await self.server.end(SIGKILL)
        try FileManager.default.moveItem(
            atPath: self.server.dataPath,
            toPath: self.path("lost-\(UUID().uuidString)")
        )
        let outcome = try await self.restore(backup, to: "data")
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        try await self.server.start()
    }

    func verify() async throws -> ChildProcess.Outcome {
        try await ChildProcess.tidemark("assets", "verify", "--data", self.server.dataPath)
    }

    /// Epochs of the databases in a file, in order.
    func epochs(_ data: String) async throws -> [String] {
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            [
                "-c",
                "import sqlite3, sys; print(*[row[0] for row in sqlite3.connect(sys.argv[1]).execute("
                    + "'SELECT epoch FROM database ORDER BY number')])",
                self.path(data) + "/tidemark.sqlite",
            ]
        )
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        return outcome.output.split(whereSeparator: \.isWhitespace).map(String.init)
    }

    /// All files below a folder, with their bytes.
    func tree(_ name: String) throws -> [String: Data] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: self.path(name))
        return paths.reduce(into: [:]) { tree, path in
            tree[path] = FileManager.default.contents(atPath: self.path(name) + "/" + path)
        }
    }
}

/// Saves records one after the other until it is stopped, and notes what was acknowledged.
final class SteadyWriter: Sendable {
    let number: Int
    /// Sent, and acknowledged.
    private let counts = Mutex((sent: 0, acknowledged: 0))
    private let isStopped = Mutex(false)

    init(_ number: Int) { self.number = number }

    var sent: Int { self.counts.withLock { $0.sent } }
    var acknowledged: Int { self.counts.withLock { $0.acknowledged } }

    func name(_ index: Int) -> String { "w\(self.number)-\(index)" }
    func stop() { self.isStopped.withLock { $0 = true } }

    func run(_ scene: sending CKDatabase, _ record: (String) -> CKRecord) async throws {
        while !self.isStopped.withLock({ $0 }) {
            let index = self.counts.withLock { counts in
                counts.sent += 1
                return counts.sent
            }
            let note = record(self.name(index))
            note["bytes"] = Data(count: 2_000)
            _ = try await scene.save(note)
            self.counts.withLock { $0.acknowledged = index }
        }
    }
}
