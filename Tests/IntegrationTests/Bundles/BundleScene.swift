import CloudKit
import Foundation
import TestSupport
import Testing

/// Alice with a zone on one server, and a second server with an alice and a bob of its own.
final class BundleScene {
    let source: BackupScene
    let target: ServerProcess
    private var tokens: [String: String] = [:]

    static func run(_ body: (BundleScene) async throws -> Void) async throws {
        try await BackupScene.run { source in
            let scene = try BundleScene(source)
            try await scene.target.administer(["container", "create", BackupScene.containerID])
            for user in ["alice", "bob"] { scene.tokens[user] = try await scene.addUser(user) }
            try await scene.target.start()
            try await body(scene)
            #expect(await scene.target.end(SIGTERM) == 0)
        }
    }

    private init(_ source: BackupScene) throws {
        self.source = source
        self.target = try ServerProcess()
    }

    private func addUser(_ name: String) async throws -> String {
        try await self.target.administer(["user", "add", name, "--container", BackupScene.containerID])
    }

    /// A user's container on the second server.
    func container(for user: String) -> CKContainer {
        let connection = CKServerConnection(
            url: "tidemark://localhost:\(self.target.port)",
            token: self.tokens[user] ?? "",
            certificateAuthority: .file(self.target.authorityPath)
        )
        return CKContainer(identifier: BackupScene.containerID, connection: connection)
    }

    /// A container of a new user on the first server.
    func newUser(_ name: String) async throws -> CKContainer {
        let token = try await self.source.server.administer(
            ["user", "add", name, "--container", BackupScene.containerID]
        )
        let connection = CKServerConnection(
            url: "tidemark://localhost:\(self.source.server.port)",
            token: token,
            certificateAuthority: .file(self.source.server.authorityPath)
        )
        return CKContainer(identifier: BackupScene.containerID, connection: connection)
    }

    func path(_ name: String) -> String { self.source.path(name) }

    // MARK: Commands

    private static func arguments(_ data: String) -> [String] {
        ["--container", BackupScene.containerID, "--as", "alice", "--data", data]
    }

    func export(_ arguments: [String]) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            ["zone", "export"] + Self.arguments(self.source.server.dataPath) + arguments
        )
    }

    /// Exports the zone `desk` into a new file, and returns its path.
    func bundle(_ name: String = "desk.tidemark", _ arguments: [String] = []) async throws -> String {
        let output = self.path(name)
        let outcome = try await self.export(["--zone", "desk", "--output", output] + arguments)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        return output
    }

    func importBundle(_ arguments: [String]) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            ["zone", "import"] + Self.arguments(self.target.dataPath) + arguments
        )
    }

    /// A zone as its feed has it, a line a record: without change tags, which are a server's own, and
    /// with the owner's name in place of an ID.
    func feed(of data: String, zone: String = "desk") async throws -> [String] {
        let place = ["--data", data, "--container", BackupScene.containerID, "--as", "alice"]
        let outcome = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["records", "export", "--zone", zone] + place
        )
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let owner = try await self.userRecordName(of: "alice", in: data)
        return try outcome.objects.map { object in
            var object = object
            object["recordChangeTag"] = nil
            object["zoneID"] = nil
            let bytes = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
            return String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: owner, with: "alice")
        }
    }

    func userRecordName(of user: String, in data: String) async throws -> String {
        let outcome = try await ChildProcess.tidemark(
            "user",
            "list",
            "--json",
            "--container",
            BackupScene.containerID,
            "--data",
            data
        )
        let users = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]]
        let found = users?.first { $0["name"] as? String == user }
        return try #require(found?["userRecordName"] as? String)
    }

    /// The report of `tidemark access` on a record, with names in place of user record names.
    func access(to record: String, in data: String) async throws -> String {
        let outcome = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["access", record, "--zone", "desk"] + Self.arguments(data)
        )
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        var report = outcome.output
        for user in ["alice", "bob"] {
            let name = try await self.userRecordName(of: user, in: data)
            report = report.replacingOccurrences(of: name, with: user)
        }
        return report
    }

    func zones(of user: String = "alice") async throws -> Set<String> {
        let zones = try await self.container(for: user).privateCloudDatabase.allRecordZones()
        return Set(zones.map(\.zoneID.zoneName)).subtracting(["_defaultZone"])
    }
}
