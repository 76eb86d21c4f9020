import CloudKit
import Foundation
import TestSupport
import Testing

/// `tidemark records` beside the server that serves the folder, as alice in the zone `desk`.
extension BackupScene {
    /// Runs a command about records of alice.
    func records(
        _ command: String,
        _ arguments: [String],
        user: String? = "alice",
        container: String = BackupScene.containerID
    ) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            ["records", command] + self.place(user: user, container: container) + arguments
        )
    }

    func place(user: String? = "alice", container: String = BackupScene.containerID) -> [String] {
        ["--data", self.server.dataPath, "--container", container] + (user.map { ["--as", $0] } ?? [])
    }

    /// Writes a file beside the data folder, and returns its path.
    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: self.path(name)))
        return self.path(name)
    }

    /// Saves records from JSON, and returns the outcome.
    func save(_ text: String, _ arguments: [String] = []) async throws -> ChildProcess.Outcome {
        let path = try self.write(text, to: "save-\(UUID().uuidString).json")
        return try await self.records("save", ["--file", path] + arguments)
    }
}

/// The text of a record in JSON.
func recordText(_ name: String, zone: String = "desk", tag: String? = nil, _ fields: String) -> String {
    let tag = tag.map { #""recordChangeTag":"\#($0)","# } ?? ""
    return
        #"{"recordName":"\#(name)","recordType":"Note",\#(tag)"zoneID":{"zoneName":"\#(zone)"},"fields":{\#(fields)}}"#
        + "\n"
}

extension ChildProcess.Outcome {
    /// Lines of JSON as objects.
    var objects: [[String: Any]] {
        self.lines.compactMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
    }
}
