import Foundation
import TestSupport
import Testing

/// A process that uploads, names, lets go of and removes assets is killed, over and over on the
/// same folder.
///
/// After each kill every acknowledged change is there; whatever a record names has a row and a
/// file; and when all that is due is removed, what is left is what records name, rows and files
/// alike.
@Suite(.serialized)
struct AssetCrashTests {
    private static let worker = ChildProcess.buildFolder.appendingPathComponent("AssetWorker")

    private static var rounds: Int {
        ProcessInfo.processInfo.environment["TIDEMARK_CRASH_ROUNDS"].flatMap { Int($0) } ?? 4
    }

    @Test(.timeLimit(.minutes(30)))
    func `no kill loses an asset that a record names, or leaves one that none does`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("AssetCrashTests: SEED=\(generator.seed), \(Self.rounds) rounds")
        let folder = try TemporaryDirectory()
        var last: [String: Versions] = [:]
        var removedFiles = 0
        for _ in 0..<Self.rounds {
            let changes = Int.random(in: 30...150, using: &generator)
            let seed = generator.next()
            try await Self.work(in: folder.path, seed: seed, changes: changes, &last)
            removedFiles += try await Self.check(folder.path, &last)
        }
        #expect(last.count > 8)
        #expect(removedFiles > 0)
    }

    /// Of a record: what was acknowledged last, and what was tried after it; negative: a delete.
    private struct Versions {
        var acknowledged: Int64?
        var tried: Int64?
    }

    /// Works until so many changes are acknowledged, and kills.
    private static func work(
        in folder: String,
        seed: UInt64,
        changes: Int,
        _ last: inout [String: Versions]
    ) async throws {
        let process = try ChildProcess(Self.worker, ["work", folder, "\(seed)"])
        let isDue: Bool? = await process.find { output in
            output.split(separator: "\n").count { $0.hasPrefix("done ") } >= changes ? true : nil
        }
        process.signal(SIGKILL)
        let outcome = await process.outcome()
        try #require(isDue == true, "\(outcome.errors) \(outcome.output.suffix(300))")
        for line in outcome.output.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let version = Int64(words[2]) else { continue }
            let name = String(words[1])
            switch words[0] {
            case "try": last[name, default: Versions()].tried = version
            case "done": last[name] = Versions(acknowledged: version)
            default: continue
            }
        }
    }

    /// Returns how many files were removed.
    private static func check(_ folder: String, _ last: inout [String: Versions]) async throws -> Int {
        let outcome = try await ChildProcess.run(Self.worker, ["check", folder])
        try #require(outcome.exitCode == 0, "\(outcome.errors)")
        var facts: [String: Set<String>] = [:]
        var found: [String: Int64] = [:]
        for line in outcome.output.split(separator: "\n") {
            let words = line.split(separator: " ").map { String($0) }
            if words.count == 3, words[0] == "record" { found[words[1]] = Int64(words[2]) }
            if words.count == 2 { facts[words[0], default: []].insert(words[1]) }
        }
        let named = facts["named"] ?? []
        #expect(facts["lost"] == nil)
        #expect(named.subtracting(facts["before"] ?? []).isEmpty, "a file of a named asset is gone")
        #expect(facts["stored"] ?? [] == named)
        #expect(facts["file"] ?? [] == named)
        for (name, versions) in last {
            let possible = [versions.acknowledged, versions.tried].compactMap { $0 }
            if let version = found[name] {
                #expect(possible.contains(version), "\(name)")
            } else {
                // Never acknowledged, or deleted.
                #expect(versions.acknowledged == nil || possible.contains { $0 < 0 }, "\(name)")
            }
            last[name] = Versions(acknowledged: found[name])
        }
        return (facts["before"] ?? []).subtracting(facts["file"] ?? []).count
    }
}
