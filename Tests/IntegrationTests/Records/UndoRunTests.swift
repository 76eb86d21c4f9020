import ArgumentParser
import CloudKit
import Foundation
import RecordStore
import TestSupport
import Testing

@testable import tidemark

/// The parts of an undo, with a client that changes records between them.
@Suite(.timeLimit(.minutes(10)))
struct UndoRunTests {
    @Test
    func `a record that somebody changes while an undo runs stays as they left it`() async throws {
        try await BackupScene.run { scene in
            try await scene.server.administer(
                ["container", "history", BackupScene.containerID, "--days", "1"]
            )
            let database = scene.database()
            func change(_ name: String, _ text: String) async throws {
                let record = try await database.record(for: scene.record(name).recordID)
                record["text"] = text
                _ = try await database.save(record)
            }
            for name in ["a", "b"] { _ = try await database.save(scene.record(name, ["text": "good"])) }
            let arguments = scene.place() + ["--zone", "desk", "--to", "0"]
            let options = try await ZoneDiff.asyncParse(arguments).options
            let position = try await options.records.open { try await ZonePast($0, options).extent.position }
            for name in ["a", "b"] { try await change(name, "bad") }
            _ = try await database.save(scene.record("c", ["text": "bad"]))

            let run = try await options.records.open { database in
                let past = try await ZonePast(database, options)
                var run = UndoRun(past, overridesLater: false)
                try await run.compare(try await past.plan(to: .position(position), by: nil))
                #expect(run.counts.changed == 2 && run.counts.deleted == 1)
                try await change("a", "mine")
                try await change("c", "mine")
                try await run.write()
                return run
            }
            #expect(run.counts.changed == 1 && run.counts.deleted == 0)
            #expect(run.failures.kept.map(\.record) == ["a", "c"])
            #expect(run.failures.kept.allSatisfy { $0.text.contains("meanwhile") })
            for (name, text) in ["a": "mine", "b": "good", "c": "mine"] {
                let record = try await database.record(for: scene.record(name).recordID)
                #expect(record["text"] as? String == text)
            }
        }
    }

    @Test(
        arguments: [
            ("1204", .position(1_204)), ("0", .position(0)),
            ("2026-11-26T09:30:00Z", .milliseconds(1_795_685_400_000)),
            ("2026-11-26T09:30:00.250Z", .milliseconds(1_795_685_400_250)),
            ("2026-11-26T11:30:00+02:00", .milliseconds(1_795_685_400_000)),
        ] as [(String, PointInTime)]
    )
    func `a point is a position or a time`(text: String, point: PointInTime) {
        #expect(PointInTime(argument: text) == point)
    }

    @Test(arguments: ["90s": 90, "30m": 1_800, "2h": 7_200, "7d": 604_800] as [String: Int64])
    func `a point is how long ago`(text: String, seconds: Int64) throws {
        guard case .milliseconds(let time)? = PointInTime(argument: text) else {
            Issue.record("\(text) is no time")
            return
        }
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        #expect(abs(now - time - seconds * 1_000) < 60_000)
    }

    @Test(arguments: ["", "-1", "yesterday", "2h30m", "h", "-2h", "99999999999d", "2026-11-26"])
    func `anything else is no point`(text: String) {
        #expect(PointInTime(argument: text) == nil)
    }
}
