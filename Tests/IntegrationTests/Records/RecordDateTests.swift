import TestSupport
import Testing

/// Dates as people write and read them.
@Suite(.timeLimit(.minutes(10)))
struct RecordDateTests {
    @Test
    func `dates in ISO 8601 are saved from JSON and CSV, and printed with --dates`() async throws {
        try await BackupScene.run { scene in
            let due = #""due":{"value":"2026-11-28T11:00:00+01:00","type":"TIMESTAMP"}"#
            #expect(try await scene.save(recordText("json", due)).exitCode == 0)
            let csv = try scene.write("recordName,due:TIMESTAMP\ncsv,2026-11-28T10:00:00.25Z\n", to: "in.csv")
            let read = try await scene.records("import", [csv, "--type", "Note", "--zone", "desk"])
            #expect(read.exitCode == 0, "\(read.errors)")
            let get = ["json", "csv", "--zone", "desk"]
            let plain = try await scene.records("get", get)
            #expect(plain.output.contains(#"{"value":1795860000000,"type":"TIMESTAMP"}"#), "\(plain.output)")
            let iso = try await scene.records("get", get + ["--dates", "iso"])
            #expect(iso.output.contains(#"{"value":"2026-11-28T10:00:00Z","type":"TIMESTAMP"}"#))
            #expect(iso.output.contains(#""modified":{"timestamp":"2"#), "\(iso.output)")
            let table = ["--type", "Note", "--csv", "--fields", "due", "--dates", "iso"]
            #expect(try await scene.records("query", table).output.contains(",2026-11-28T10:00:00.25Z\n"))
            let export = try await scene.records("export", ["--zone", "desk", "--dates", "iso"])
            #expect(export.output.contains(#""2026-11-28T10:00:00.25Z""#))
            // What was printed is read again.
            let again = try await scene.save(iso.output, ["--policy", "all-keys"])
            #expect(again.exitCode == 0, "\(again.errors)")
            let wrong = try await scene.save(
                recordText("w", #""due":{"value":"2026-11-28","type":"TIMESTAMP"}"#)
            )
            #expect(wrong.exitCode == 65)
            #expect(wrong.errors.contains("such as 2026-11-28T10:00:00Z, or milliseconds since 1970"))
        }
    }
}
