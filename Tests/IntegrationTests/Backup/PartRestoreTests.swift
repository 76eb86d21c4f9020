import CloudKit
import Foundation
import TestSupport
import Testing

/// A data folder that has lost one of its parts: the start that is refused, and the command that it names.
@Suite(.timeLimit(.minutes(10)))
struct PartRestoreTests {
    /// What became of a part.
    enum Loss: String, CaseIterable {
        case missing, empty, foreign
    }

    private static let assets = 6

    /// A store with files, a backup of it, and more that the backup does not have.
    private static func run(_ body: (BackupScene) async throws -> Void) async throws {
        try await BackupScene.run { scene in
            let database = scene.database()
            for number in 1...Self.assets {
                let file = try scene.files.asset("file-\(number)", bytes: 50_000, seed: UInt64(number))
                try await database.save(scene.record("file-\(number)", ["file": file]))
            }
            #expect(try await scene.backUp(to: "backup").exitCode == 0)
            let late = try scene.files.asset("late", bytes: 50_000, seed: 99)
            try await database.save(scene.record("late", ["file": late]))
            await scene.server.end(SIGTERM)
            try await body(scene)
        }
    }

    private static func data(_ scene: BackupScene, _ name: String) -> String {
        scene.server.dataPath + "/" + name
    }

    private static func write(_ bytes: [UInt8], _ path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// How a start is refused.
    private static func refusal(_ scene: BackupScene) async throws -> ChildProcess.Outcome {
        try await ChildProcess.tidemark(
            "serve",
            "--data",
            scene.server.dataPath,
            "--listen",
            "127.0.0.1:0"
        )
    }

    private static func restore(_ part: String, _ scene: BackupScene) async throws -> ChildProcess.Outcome {
        try await ChildProcess.tidemark(
            "restore",
            "--from",
            scene.path("backup"),
            "--part",
            part,
            "--data",
            scene.server.dataPath
        )
    }

    private static func expectWhole(_ scene: BackupScene, assets: Int) async throws {
        let verified = try await ChildProcess.tidemark(
            "verify",
            "--data",
            scene.server.dataPath,
            "--rate",
            "0"
        )
        #expect(verified.exitCode == 0, "\(verified.output)")
        #expect(verified.output.contains("\(assets) files: 0 findings"), "\(verified.output)")
        for number in 1...Self.assets {
            let record = try await scene.database("reader").record(
                for: scene.record("file-\(number)").recordID
            )
            #expect(try record.file("file") == Data(contentsOf: scene.files.url("file-\(number)")))
        }
    }

    @Test(arguments: Loss.allCases)
    func `a lost database is put back beside its files, and clients begin anew`(loss: Loss) async throws {
        try await Self.run { scene in
            let path = Self.data(scene, "tidemark.sqlite")
            try FileManager.default.removeItem(atPath: path)
            switch loss {
            case .missing: break
            case .empty: try Self.write([], path)
            case .foreign: try Self.write([UInt8](repeating: 0x5A, count: 65_536), path)
            }
            let refused = try await Self.refusal(scene)
            #expect(refused.exitCode == 65, "\(refused.errors)")
            #expect(
                refused.errors.contains("--part database --data \(scene.server.dataPath)"),
                "\(refused.errors)"
            )
            let restored = try await Self.restore("database", scene)
            #expect(restored.exitCode == 0, "\(restored.errors)")
            // The file of a later asset would be in the way of the next one with its number.
            #expect(restored.output.contains("What was there is in "), "\(restored.output)")
            try await scene.server.start()
            #expect(try await scene.names() == Set((1...Self.assets).map { "file-\($0)" }))
            let another = try scene.files.asset("another", bytes: 50_000, seed: 100)
            try await scene.database("writer").save(scene.record("another", ["file": another]))
            try await Self.expectWhole(scene, assets: Self.assets + 1)
            #expect(try await scene.epochs("data") != scene.epochs("backup"))
        }
    }

    @Test(arguments: Loss.allCases)
    func `lost files are put back, each compared with its hash`(loss: Loss) async throws {
        try await Self.run { scene in
            let folder = Self.data(scene, "assets")
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
                $0.contains("/")
            }
            switch loss {
            case .missing: try FileManager.default.removeItem(atPath: folder)
            case .empty:
                try FileManager.default.removeItem(atPath: folder)
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            case .foreign:
                for file in files { try Self.write([1, 2, 3], folder + "/" + file) }
            }
            let refused = try await Self.refusal(scene)
            #expect(refused.exitCode == 65, "\(refused.errors)")
            #expect(
                refused.errors.contains("--part assets --data \(scene.server.dataPath)"),
                "\(refused.errors)"
            )
            let restored = try await Self.restore("assets", scene)
            // The backup does not have the last one.
            #expect(restored.exitCode == 65 && restored.output.contains("missing"), "\(restored.errors)")
            #expect(restored.output.contains(": \(Self.assets) files."), "\(restored.output)")
            try await scene.server.start()
            _ = try await scene.database().deleteRecord(withID: scene.record("late").recordID)
            let verified = try await ChildProcess.tidemark("verify", "--data", scene.server.dataPath)
            // An asset that no record names is still there for its grace time.
            #expect(verified.output.contains("1 findings"), "\(verified.output)")
        }
    }

    @Test
    func `one damaged file is put back, and a loss of all can be accepted`() async throws {
        try await Self.run { scene in
            let folder = Self.data(scene, "assets")
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
                $0.contains("/")
            }
            let first = folder + "/" + (try #require(files.sorted().first))
            let whole = try Data(contentsOf: URL(fileURLWithPath: first))
            try Self.write([UInt8](repeating: 0, count: whole.count), first)
            try await scene.server.start()
            let busy = try await Self.restore("assets", scene)
            #expect(busy.exitCode == 69 && busy.errors.contains("Stop it first"), "\(busy.errors)")
            await scene.server.end(SIGTERM)
            let restored = try await Self.restore("assets", scene)
            #expect(restored.exitCode == 0 && restored.output.contains(": 1 file."), "\(restored.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: first)) == whole)
            try FileManager.default.removeItem(atPath: folder)
            #expect(try await Self.refusal(scene).exitCode == 65)
            let accepted = try await ChildProcess.tidemark(
                "repair",
                "--accept-loss",
                "--data",
                scene.server.dataPath
            )
            #expect(
                accepted.exitCode == 0 && accepted.output.contains("goes on without"),
                "\(accepted.errors)"
            )
            try await scene.server.start()
        }
    }

    @Test(arguments: Loss.allCases, ["certificates", "keys"])
    func `lost certificates and keys are put back, and clients trust the server`(
        loss: Loss,
        part: String
    ) async throws {
        try await Self.run { scene in
            let lost = part == "keys" ? ["ca-key.pem", "server-key.pem"] : ["ca.pem"]
            for name in lost {
                let path = Self.data(scene, "tls/" + name)
                try FileManager.default.removeItem(atPath: path)
                switch loss {
                case .missing: break
                case .empty: try Self.write([], path)
                case .foreign: try Self.write(Array("not PEM\n".utf8), path)
                }
            }
            let refused = try await Self.refusal(scene)
            #expect(refused.exitCode == 78, "\(refused.errors)")
            #expect(
                refused.errors.contains("--part \(part) --data \(scene.server.dataPath)"),
                "\(refused.errors)"
            )
            let restored = try await Self.restore(part, scene)
            #expect(restored.exitCode == 0, "\(restored.errors)")
            try await scene.server.start()
            try await Self.expectWhole(scene, assets: Self.assets + 1)
        }
    }

    @Test
    func `a part of a stream, and a part for a folder that is gone, are refused`() async throws {
        for (arguments, code) in [(["--from", "-"], 64), (["--from", "/nowhere"], 65)] as [([String], Int32)]
        {
            let outcome = try await ChildProcess.run(
                ChildProcess.tidemark,
                ["restore", "--part", "assets", "--data", "/nowhere/data"] + arguments
            )
            #expect(outcome.exitCode == code, "\(arguments): \(outcome.errors)")
        }
    }
}
