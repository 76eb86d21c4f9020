import CloudKit
import Foundation
import TestSupport
import Testing

/// Bounds of the memory of an export and an import.
@Suite(.timeLimit(.minutes(10)))
struct BundleMemoryTests {
    private static let records = 20_000
    private static let assets = 5
    private static let assetBytes = 10 * 1_024 * 1_024
    /// Measured: 77 MiB to export and 83 MiB to verify, of which any command takes 44 MiB.
    private static let mostKibibytes = 110 * 1_024
    /// An import has the page cache of the writer, of 256 MiB.
    private static let mostKibibytesToWrite = mostKibibytes + 256 * 1_024

    /// Runs a command, and returns the most memory that it had, in KiB.
    private static func peak(_ arguments: [String]) async throws -> Int {
        let program =
            "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL); "
            + "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            ["-c", program, ChildProcess.tidemark.path] + arguments
        )
        let words = outcome.output.split(whereSeparator: \.isWhitespace)
        #expect(words.first == "0", "\(outcome.errors)")
        return try #require(words.last.flatMap { Int($0) })
    }

    @Test
    func `20,000 records and 50 MiB of files are exported and imported in little memory`() async throws {
        try await BundleScene.run { scene in
            let text = String(repeating: "x", count: 1_000)
            let lines = (0..<Self.records).map { recordText("n\($0)", #""text":{"value":"\#(text)"}"#) }
            let path = try scene.source.write(lines.joined(), to: "many.jsonl")
            let saved = try await scene.source.records("import", [path])
            #expect(saved.exitCode == 0, "\(saved.errors)")
            for number in 0..<Self.assets {
                let file = try scene.source.files.asset(
                    "f\(number)",
                    bytes: Self.assetBytes,
                    seed: UInt64(number + 1)
                )
                _ = try await scene.source.database().save(
                    scene.source.record("file-\(number)", ["file": file])
                )
            }
            let bundle = scene.path("many.tidemark")
            let place = ["--container", BackupScene.containerID, "--as", "alice"]
            let exported = try await Self.peak(
                ["zone", "export", "--zone", "desk", "--output", bundle] + place
                    + ["--data", scene.source.server.dataPath]
            )
            let verified = try await Self.peak(
                ["zone", "import", bundle, "--dry-run"] + place + ["--data", scene.target.dataPath]
            )
            let imported = try await Self.peak(
                ["zone", "import", bundle] + place + ["--data", scene.target.dataPath]
            )
            print("BundleMemoryTests: KiB: export \(exported), verify \(verified), import \(imported)")
            #expect(exported < Self.mostKibibytes)
            #expect(verified < Self.mostKibibytes)
            #expect(imported < Self.mostKibibytesToWrite)
            let usage = try await scene.importBundle([bundle, "--dry-run", "--to", "again"])
            #expect(usage.output.contains("records 20005, of them shares 0, assets 5"), "\(usage.output)")
            let there = Set(try await scene.feed(of: scene.target.dataPath))
            #expect(there == Set(try await scene.feed(of: scene.source.server.dataPath)))
        }
    }
}
