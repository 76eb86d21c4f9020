import CloudKit
import Foundation
import TestSupport
import Testing

/// `tidemark records query`, `get`, `save`, `delete` and `changes` beside a server.
@Suite(.timeLimit(.minutes(10)))
struct RecordsCommandTests {
    @Test
    func `a save of a command reaches clients and listeners of a running server`() async throws {
        try await BackupScene.run { scene in
            let zoneListener = try scene.listener(in: TemporaryDirectory(), "--zone", "desk", "--json")
            try await zoneListener.says("subscribed")
            let queryListener = try scene.listener(
                in: TemporaryDirectory(),
                "--query",
                "Note",
                "--zone",
                "desk"
            )
            try await queryListener.says("subscribed")
            let saved = try await scene.save(recordText("first", #""text":{"value":"Hello"}"#), ["--json"])
            #expect(saved.exitCode == 0, "\(saved.errors)")
            let tag = try #require(saved.objects.first?["recordChangeTag"] as? String)
            let line = try #require(try await zoneListener.lines(1).first)
            #expect(line.json("zone") == "desk" && line.json("database") == "private", "\(line)")
            _ = try await queryListener.lines(1)
            let record = try await scene.database().record(for: scene.record("first").recordID)
            #expect(record["text"] as? String == "Hello")
            #expect(record.recordChangeTag == tag)
            // Acting as alice is being alice.
            #expect(record.lastModifiedUserRecordID?.recordName == CKCurrentUserDefaultName)
            #expect(record.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)

            let deleted = try await scene.records("delete", ["first", "--zone", "desk", "--yes"])
            #expect(deleted.exitCode == 0 && deleted.output == "Deleted 1 record.\n", "\(deleted.errors)")
            _ = try await zoneListener.lines(2)
            #expect(try await scene.names().isEmpty)
        }
    }

    @Test
    func `queries page through all, in order, as JSON lines and as CSV`() async throws {
        try await BackupScene.run { scene in
            let notes = (0..<450).map {
                scene.record("n\(1_000 + $0)", ["number": $0, "title": "Note, \($0)"])
            }
            _ = try await scene.database().modifyRecords(saving: Array(notes[..<250]), deleting: [])
            _ = try await scene.database().modifyRecords(saving: Array(notes[250...]), deleting: [])
            let all = try await scene.records("query", ["--type", "Note", "--sort", "number:desc"])
            #expect(all.exitCode == 0, "\(all.errors)")
            #expect(
                all.objects.compactMap { $0["recordName"] as? String }
                    == notes.reversed().map(\.recordID.recordName)
            )
            let some = try await scene.records(
                "query",
                ["--type", "Note", "number < 420", "--limit", "410", "--fields", "title", "--zone", "desk"]
            )
            #expect(some.lines.count == 410)
            let fields = try #require(some.objects.first?["fields"] as? [String: [String: Any]])
            #expect(Array(fields.keys) == ["title"] && fields["title"]?["type"] as? String == "STRING")

            let table = try await scene.records(
                "query",
                ["--type", "Note", "number >= 448", "--sort", "number", "--csv"]
            )
            #expect(table.lines.count == 3, "\(table.errors)")
            #expect(table.lines[0] == "recordName,recordChangeTag,number:INT64,title")
            #expect(table.lines[1].hasPrefix("n1448,") && table.lines[1].hasSuffix(#",448,"Note, 448""#))

            let refusals: [([String], Int32, String)] = [
                (["--type", "Nothing"], 65, "Did not find record type"),
                (["--type", "Note", "number =="], 64, "Unable to parse"),
                (["--type", "Note", "--limit", "0"], 64, "--limit"),
                (["--type", "Note", "--csv", "--json"], 64, "--csv"),
                (["--type", "Note", "--zone", "none"], 65, "Zone Not Found"),
                (["--type", "Note", "--database", "shared"], 65, "Zone Wide"),
            ]
            for (arguments, code, text) in refusals {
                let outcome = try await scene.records("query", arguments)
                #expect(
                    outcome.exitCode == code && outcome.errors.contains(text),
                    "\(arguments): \(outcome.errors)"
                )
            }
        }
    }

    @Test
    func `conflicts are named by record and line, and policies decide`() async throws {
        try await BackupScene.run { scene in
            let saved = try await scene.save(
                recordText("a", #""text":{"value":"1"},"size":{"value":3}"#),
                ["--json"]
            )
            let tag = try #require(saved.objects.first?["recordChangeTag"] as? String)

            // A batch in a zone of its own is saved as a whole.
            let again = try await scene.save(
                recordText("b", #""text":{"value":"x"}"#) + recordText("a", #""text":{"value":"2"}"#)
            )
            #expect(again.exitCode == 65)
            #expect(again.errors.contains("line 2: the record 'a': "), "\(again.errors)")
            #expect(
                again.errors.contains("change tag \(tag)") && again.errors.contains("--policy changed-keys")
            )
            #expect(try await scene.names() == ["a"])

            let stale = try await scene.save(recordText("a", tag: "zzz", #""text":{"value":"2"}"#))
            #expect(stale.exitCode == 65 && stale.errors.contains("change tag is \(tag)"), "\(stale.errors)")
            let right = try await scene.save(recordText("a", tag: tag, #""text":{"value":"2"}"#))
            #expect(right.exitCode == 0, "\(right.errors)")
            func fields() async throws -> [String: String] {
                let record = try await scene.database().record(for: scene.record("a").recordID)
                return record.allKeys().reduce(into: [:]) { $0[$1] = "\(record[$1].map { "\($0)" } ?? "")" }
            }
            #expect(try await fields() == ["text": "2", "size": "3"])
            let changed = try await scene.save(
                recordText("a", #""text":{"value":"3"}"#),
                ["--policy", "changed-keys"]
            )
            #expect(changed.exitCode == 0, "\(changed.errors)")
            #expect(try await fields() == ["text": "3", "size": "3"])
            let all = try await scene.save(
                recordText("a", #""text":{"value":"4"}"#),
                ["--policy", "all-keys"]
            )
            #expect(all.exitCode == 0, "\(all.errors)")
            #expect(try await fields() == ["text": "4"])
        }
    }

    @Test
    func `what get prints is what save takes, through a pipe`() async throws {
        try await BackupScene.run { scene in
            let saved = try await scene.save(recordText("a", #""text":{"value":"Hello"},"size":{"value":3}"#))
            #expect(saved.exitCode == 0, "\(saved.errors)")
            let program = ChildProcess.tidemark.path
            let place = scene.place().joined(separator: " ")
            let pipe = """
                \(program) records get a --zone desk \(place) --json | sed s/Hello/Bye/ \
                    | \(program) records save \(place)
                """
            for message in ["Saved 1 record.", "Saved 1 record."] {
                let outcome = try await ChildProcess.run(URL(fileURLWithPath: "/bin/sh"), ["-c", pipe])
                #expect(outcome.exitCode == 0 && outcome.output == message + "\n", "\(outcome.errors)")
            }
            let record = try await scene.database().record(for: scene.record("a").recordID)
            #expect(record["text"] as? String == "Bye" && record["size"] as? Int64 == 3)
        }
    }

    @Test
    func `a bad line names its place and what was saved before it`() async throws {
        try await BackupScene.run { scene in
            let twice = try await scene.save(recordText("a", "") + recordText("a", ""))
            #expect(
                twice.exitCode == 65 && twice.errors.contains("line 2, column 1: the record 'a' comes twice")
            )
            let typed = try await scene.save(
                recordText("a", "") + recordText("b", #""n":{"value":"x","type":"INT64"}"#)
            )
            #expect(typed.exitCode == 65, "\(typed.errors)")
            #expect(typed.errors.contains("line 2, column ") && typed.errors.contains("the field 'n'"))
            #expect(typed.errors.contains("Nothing was saved."))
            // A whole batch before the bad line is saved.
            let lines = (0..<401).map { recordText("n\($0)", "") }.joined()
            let cut = try await scene.save(lines + "{\"recordName\":")
            #expect(
                cut.exitCode == 65 && cut.errors.contains("line 402, column 15: the text ends"),
                "\(cut.errors)"
            )
            #expect(cut.errors.contains("400 records before it were saved."), "\(cut.errors)")
            #expect(try await scene.names().count == 400)
            // A type of the schema is obeyed.
            _ = try await scene.save(recordText("t", #""text":{"value":"1"}"#))
            let wrong = try await scene.save(recordText("u", #""text":{"value":1}"#))
            #expect(
                wrong.exitCode == 65 && wrong.errors.contains("line 1: the record 'u'"),
                "\(wrong.errors)"
            )
        }
    }

    @Test
    func `a delete is counted and confirmed, and a name that is not there is told`() async throws {
        try await BackupScene.run { scene in
            let notes = (0..<30).map { scene.record("n\($0)", ["number": $0]) }
            _ = try await scene.database().modifyRecords(saving: notes, deleting: [])
            let query = ["--type", "Note", "number < 10"]
            let dry = try await scene.records("delete", query + ["--dry-run"])
            #expect(dry.exitCode == 0 && dry.output == "Would delete 10 records.\n", "\(dry.errors)")
            let unasked = try await scene.records("delete", query)
            #expect(unasked.exitCode == 64)
            #expect(unasked.errors.contains("deletes 10 records of \(BackupScene.containerID) for good"))
            #expect(try await scene.names().count == 30)
            let done = try await scene.records("delete", query + ["--yes", "--json"])
            #expect(done.exitCode == 0 && done.output.contains(#""deleted" : 10"#), "\(done.errors)")
            #expect(try await scene.names().count == 20)
            let missing = try await scene.records("delete", ["n10", "n1", "--zone", "desk", "--yes"])
            #expect(missing.exitCode == 65 && missing.output == "Deleted 1 record.\n", "\(missing.errors)")
            #expect(missing.errors.contains("the record 'n1': Record not found."), "\(missing.errors)")
            let got = try await scene.records("get", ["n11", "n1", "n12", "--zone", "desk"])
            #expect(
                got.exitCode == 65
                    && got.objects.compactMap { $0["recordName"] as? String } == ["n11", "n12"]
            )
            #expect(got.errors.contains("2 of 3 records were printed"))
        }
    }

    @Test
    func `changes go on from a token, tell of deletions, and are followed`() async throws {
        try await BackupScene.run { scene in
            _ = try await scene.database().modifyRecords(
                saving: [scene.record("a"), scene.record("b")],
                deleting: []
            )
            let first = try await scene.records("changes", ["--zone", "desk"])
            #expect(first.exitCode == 0, "\(first.errors)")
            #expect(first.objects.compactMap { $0["recordName"] as? String } == ["a", "b"])
            let token = try #require(first.objects.last?["syncToken"] as? String)
            try await scene.database().deleteRecord(withID: scene.record("a").recordID)
            let second = try await scene.records("changes", ["--zone", "desk", "--since", token])
            #expect(second.objects.first?["recordName"] as? String == "a")
            #expect(second.objects.first?["deleted"] as? Bool == true)
            #expect(second.objects.count == 2)
            let next = try #require(second.objects.last?["syncToken"] as? String)

            let follower = try ChildProcess(
                ChildProcess.tidemark,
                ["records", "changes"] + scene.place() + ["--zone", "desk", "--since", next, "--follow"]
            )
            defer { follower.signal(SIGKILL) }
            _ = await follower.find { $0.contains("syncToken") ? true : nil }
            try await scene.database().save(scene.record("c", ["text": "new"]))
            let followed = await follower.find { $0.contains(#""recordName":"c""#) ? true : nil }
            #expect(followed == true)

            for (bad, text) in [("x!", "--since"), ("AAAA", "Begin anew, without --since")] {
                let outcome = try await scene.records("changes", ["--zone", "desk", "--since", bad])
                #expect(outcome.exitCode == 65 && outcome.errors.contains(text), "\(outcome.errors)")
            }
        }
    }

    @Test
    func `rights are those of the user, and an operator reads the public database only`() async throws {
        try await BackupScene.run { scene in
            let schema = try scene.write(
                """
                DEFINE SCHEMA
                RECORD TYPE Secret (
                    "___recordID" REFERENCE QUERYABLE,
                    text STRING QUERYABLE,
                    GRANT CREATE TO "_icloud",
                    GRANT READ, WRITE TO "_creator"
                );
                """,
                to: "secret.ckdb"
            )
            try await scene.server.administer([
                "schema", "import", "--container", BackupScene.containerID, schema,
            ])
            try await scene.server.administer(["user", "add", "bob", "--container", BackupScene.containerID])
            let secret = #"{"recordName":"s","recordType":"Secret","fields":{"text":{"value":"x"}}}"#
            let open = ["--database", "public"]
            let saved = try await scene.save(secret, open)
            #expect(saved.exitCode == 0, "\(saved.errors)")
            let own = try await scene.records("query", ["--type", "Secret"] + open)
            #expect(own.lines.count == 1)
            let others = try await scene.records("query", ["--type", "Secret"] + open, user: "bob")
            #expect(others.exitCode == 0 && others.lines.isEmpty, "\(others.errors)")
            let hidden = try await scene.records("get", ["s"] + open, user: "bob")
            #expect(hidden.exitCode == 77, "\(hidden.errors)")
            let kept = try await scene.records("delete", ["s", "--yes"] + open, user: "bob")
            #expect(kept.exitCode == 77, "\(kept.errors)")
            for command in [["query", "--type", "Secret"], ["get", "s"], ["changes"], ["export"]] {
                let outcome = try await scene.records(command[0], command.dropFirst() + open, user: nil)
                #expect(outcome.exitCode == 0, "\(command): \(outcome.errors)")
                #expect(outcome.objects.contains { $0["recordName"] as? String == "s" }, "\(command)")
            }
            let unnamed = try await scene.records("delete", ["s", "--yes"] + open, user: nil)
            #expect(unnamed.exitCode == 64 && unnamed.errors.contains("--as"), "\(unnamed.errors)")
            let unowned = try await scene.records("query", ["--type", "Secret"], user: nil)
            #expect(
                unowned.exitCode == 64 && unowned.errors.contains("--database public"),
                "\(unowned.errors)"
            )
            let unknown = try await scene.records("query", ["--type", "Secret"], user: "carol")
            #expect(unknown.exitCode == 65 && unknown.errors.contains("there is no user carol"))
            let early = try await scene.records("query", ["--type", "Secret"], user: "bob")
            #expect(early.exitCode == 65 && early.errors.contains("first sign-in"), "\(early.errors)")
            let path = try scene.write(recordText("b", zone: "_defaultZone", ""), to: "bob.json")
            let dry = try await scene.records("import", [path, "--dry-run"], user: "bob")
            #expect(dry.exitCode == 0 && dry.output.hasPrefix("Would be: created 1,"), "\(dry)")
            let first = try await scene.records("import", [path], user: "bob")
            #expect(first.exitCode == 0, "\(first.errors)")
            let known = try await scene.records("get", ["b"], user: "bob")
            #expect(known.objects.count == 1, "\(known.errors)")
        }
    }

    @Test
    func `a shell completes containers, users, zones and types from the data folder`() async throws {
        try await BackupScene.run { scene in
            _ = try await scene.database().save(scene.record("a", ["text": "x"]))
            let line = ["tidemark", "records", "query"] + scene.place()
            func complete(_ option: String, _ prefix: String) async throws -> [String] {
                let words = line + [option, prefix]
                let outcome = try await ChildProcess.run(
                    ChildProcess.tidemark,
                    [
                        "---completion", "records", "query", "--", option, "\(words.count - 1)",
                        "\(prefix.utf8.count)",
                    ]
                        + words
                )
                return outcome.lines
            }
            #expect(try await complete("--container", "iCloud.b") == [BackupScene.containerID])
            #expect(try await complete("--as", "al") == ["alice"])
            #expect(try await complete("--zone", "de") == ["desk"])
            #expect(try await complete("--type", "N") == ["Note"])
            #expect(try await complete("--type", "X").isEmpty)
        }
    }
}
