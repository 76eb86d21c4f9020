import CloudKit
import Foundation
import TestSupport
import Testing

/// What `tidemark records import` and its like make of pipes, and of texts from CloudKit Web Services.
@Suite(.timeLimit(.minutes(10)))
struct RecordsPipeTests {
    private static func shell(_ scene: BackupScene, _ line: String) async throws -> ChildProcess.Outcome {
        let place = scene.place().map { "'\($0)'" }.joined(separator: " ")
        return try await ChildProcess.run(
            URL(fileURLWithPath: "/bin/bash"),
            [
                "-c",
                ["IMPORT": "import", "SAVE": "save"].reduce(line) {
                    $0.replacing($1.key, with: "'\(ChildProcess.tidemark.path)' records \($1.value) \(place)")
                },
            ]
        )
    }

    @Test
    func `an import takes what can be read once as it takes a file`() async throws {
        try await BackupScene.run { scene in
            // A record that waits for its target, so that the text is read three times.
            let child = #""to":{"type":"REFERENCE","value":{"recordName":"z","action":"DELETE_SELF"}}"#
            let text = recordText("a", child) + recordText("z", "")
            let path = try scene.write(text, to: "in.jsonl")
            let once = "--set request_items_max=1"
            let ways: [(String, String)] = [
                ("cat '\(path)' | IMPORT - --dry-run", "Would be: created 2,"),
                ("cat '\(path)' | IMPORT - \(once)", "Records: created 2,"),
                ("cat '\(path)' | IMPORT /dev/stdin", "unchanged 2,"),
                ("IMPORT <(cat '\(path)')", "unchanged 2,"),
                ("IMPORT - < '\(path)'", "unchanged 2,"),
                // What was read before the command is not imported.
                ("{ read -r; IMPORT -; } < '\(path)'", "unchanged 1,"),
                (
                    "mkfifo '\(path).fifo'; cat '\(path)' > '\(path).fifo' & IMPORT '\(path).fifo'",
                    "unchanged 2,"
                ),
            ]
            for (line, says) in ways {
                let outcome = try await Self.shell(scene, line)
                #expect(outcome.exitCode == 0 && outcome.output.contains(says), "\(line): \(outcome)")
            }
            let bad = try await Self.shell(scene, "{ cat '\(path)'; echo '{'; } | IMPORT -")
            #expect(
                bad.exitCode == 65 && bad.errors.contains("standard input: line 4, column 1: the text ends"),
                "\(bad.errors)"
            )
            #expect(try await Set(scene.names()) == ["a", "z"])
            let left = try FileManager.default.contentsOfDirectory(atPath: scene.server.dataPath)
            #expect(!left.contains { $0.hasPrefix("import-") }, "\(left)")
        }
    }

    @Test
    func `an input without a record is refused, and an empty one is named`() async throws {
        try await BackupScene.run { scene in
            let csv = try scene.write("recordName,text\n", to: "in.csv")
            let refused = [
                "echo | IMPORT -", "echo '[]' | IMPORT -", #"echo '{"records":[]}' | IMPORT - --dry-run"#,
                "IMPORT '\(csv)' --type Note", "echo '[]' | SAVE", "echo ' ' | SAVE --json",
            ]
            for line in refused {
                let outcome = try await Self.shell(scene, line)
                #expect(
                    outcome.exitCode == 65 && outcome.errors.contains("there is no record"),
                    "\(line): \(outcome)"
                )
            }
            for line in [
                "IMPORT - < /dev/null", "true | IMPORT - --json", "true | SAVE", "SAVE --json < /dev/null",
            ] {
                let outcome = try await Self.shell(scene, line)
                #expect(
                    outcome.exitCode == 0 && outcome.errors.contains("the input is empty"),
                    "\(line): \(outcome)"
                )
            }
        }
    }

    @Test
    func `a copy of a pipe leaves the reserve of the disk free`() async throws {
        try await BackupScene.run { scene in
            let path = try scene.write(recordText("a", ""), to: "in.jsonl")
            let full = try await Self.shell(
                scene,
                "cat '\(path)' | IMPORT - --set disk_reserve_bytes=1000000000000000"
            )
            #expect(full.exitCode == 73 && full.errors.contains("disk_reserve_bytes"), "\(full.errors)")
            #expect(full.errors.contains("after 0 bytes") && full.errors.contains("Nothing was written."))
            // The file itself needs no room.
            let file = try await Self.shell(
                scene,
                "IMPORT '\(path)' --set disk_reserve_bytes=1000000000000000"
            )
            #expect(file.exitCode == 0, "\(file.errors)")
        }
    }

    @Test
    func `records of CloudKit Web Services are imported, and a dry run says the same`() async throws {
        try await BackupScene.run { scene in
            func record(_ name: String, _ zone: String, _ owner: String) -> String {
                #"{"recordName":"\#(name)","recordType":"Note","fields":{"text":{"value":"x","type":"STRING"}},"#
                    + #""pluginFields":{},"recordChangeTag":"jx8","created":{"timestamp":1512345678901,"deviceID":"2"},"#
                    + #""deleted":false,"zoneID":{"zoneName":"\#(zone)","ownerRecordName":"\#(owner)","zoneType":"X"}}"#
            }
            let user = "_0123456789abcdef0123456789abcdef"
            let records = [
                record("w1", "_defaultZone", "__defaultOwner__"), record("w2", "desk", user),
                #"{"recordName":"gone","deleted":true,"zoneID":{"zoneName":"nowhere"}}"#,
            ]
            let text = "\u{FEFF}{\"records\":[" + records.joined(separator: ",") + "],\"moreComing\":false}"
            let path = try scene.write(text, to: "answer.json")
            let numbers = "created 2, changed 0, unchanged 0, skipped 1, refused 0.\n"
            let dry = try await scene.records("import", [path, "--create-zones", "--dry-run"])
            #expect(dry.exitCode == 0 && dry.output == "Would be: " + numbers, "\(dry)")
            let done = try await scene.records("import", [path])
            #expect(done.exitCode == 0 && done.output == "Records: " + numbers, "\(done)")
            #expect(try await scene.names() == ["w2"])

            let reserved = try scene.write(record("w3", "_other", user), to: "reserved.json")
            for more in [["--dry-run"], []] {
                let outcome = try await scene.records("import", [reserved, "--create-zones"] + more)
                #expect(outcome.exitCode == 65, "\(outcome)")
                #expect(outcome.errors.contains("the zone '_other' cannot be created"), "\(outcome.errors)")
            }
            // Somebody who has never signed in has no private database, and gets one.
            let new = ["user", "add", "new", "--container", BackupScene.containerID]
            _ = try await scene.server.administer(new)
            for (more, begin) in [(["--dry-run"], "Would be: "), ([], "Records: ")] {
                let outcome = try await scene.records("import", [path, "--create-zones"] + more, user: "new")
                #expect(outcome.exitCode == 0, "\(outcome)")
                #expect(outcome.output == begin + numbers.dropLast(2) + ", zones created 1.\n")
            }

            let saved = try await scene.save(records[2])
            #expect(saved.exitCode == 65 && saved.errors.contains("was deleted"), "\(saved.errors)")
        }
    }

    @Test
    func `a terminal gets no control characters of a record, and a file gets the record`() async throws {
        try await BackupScene.run { scene in
            let hostile = "a\u{1B}[2J\u{9B}2J\u{202E}b"
            let record = scene.record("one", ["text": hostile])
            _ = try await scene.database().modifyRecords(saving: [record], deleting: [])
            let place = scene.place().map { "\"\($0)\"" }.joined(separator: " ")
            let tidemark = "\"\(ChildProcess.tidemark.path)\" records"
            for command in [
                "query --type Note --csv --zone desk", "query --type Note --zone desk", "export --zone desk",
                "get one --zone desk", "get one --zone desk --json",
            ] {
                let shown = try await ChildProcess.run(
                    URL(fileURLWithPath: "/bin/sh"),
                    ["-c", "script -qec '\(tidemark) \(command) \(place) 2>/dev/null' /dev/null </dev/null"]
                )
                let scalars = shown.output.unicodeScalars
                #expect(shown.output.contains("one"), "\(command): \(shown)")
                #expect(!scalars.contains("\u{1B}") && !scalars.contains("\u{9B}"), "\(command): \(shown)")
                #expect(!scalars.contains("\u{202E}"), "\(command): \(shown)")
            }
            let table = try await scene.records("query", ["--type", "Note", "--csv", "--zone", "desk"])
            #expect(table.output.contains(hostile), "\(table)")
            let wrong = try await scene.records("get", ["\u{1B}[2J\n\u{202E}", "--zone", "desk"])
            #expect(wrong.errors.contains(#"\u001b[2J\n\u202e"#), "\(wrong.errors)")
        }
    }
}
