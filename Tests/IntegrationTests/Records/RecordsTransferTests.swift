import CloudKit
import CoreLocation
import Foundation
import TestSupport
import Testing

/// `tidemark records export` and `import` beside a server.
@Suite(.timeLimit(.minutes(10)))
struct RecordsTransferTests {
    private static let other = "iCloud.other"

    /// A container whose user alice has signed in, so that she has a private database.
    private static func makeOther(_ scene: BackupScene) async throws {
        try await scene.server.administer(["container", "create", self.other])
        let token = try await scene.server.administer(["user", "add", "alice", "--container", self.other])
        let connection = CKServerConnection(
            url: "tidemark://localhost:\(scene.server.port)",
            token: token.trimmingCharacters(in: .newlines),
            certificateAuthority: .file(scene.server.authorityPath)
        )
        _ = try await CKContainer(identifier: self.other, connection: connection).userRecordID()
    }

    /// Fields, parents and types of the records of an export, by name.
    private static func contents(_ scene: BackupScene, _ container: String) async throws -> [String: String] {
        let names = ["a-child", "b-referrer", "z-parent"]
        let got = try await scene.records("get", names + ["--zone", "desk"], container: container)
        #expect(got.exitCode == 0, "\(got.errors)")
        return got.objects.reduce(into: [:]) { contents, object in
            let kept = object.filter { ["fields", "parent", "recordType"].contains($0.key) }
            let data = try? JSONSerialization.data(withJSONObject: kept, options: [.sortedKeys])
            contents["\(object["recordName"] ?? "")"] = String(decoding: data ?? Data(), as: UTF8.self)
        }
    }

    @Test
    func `an export is imported into another container with all values, parents and files`() async throws {
        try await BackupScene.run { scene in
            try await Self.makeOther(scene)
            let file = try scene.files.asset("file", bytes: 300_000, seed: 1)
            let parent = scene.record("z-parent", ["text": "x"])
            let child = scene.record(
                "a-child",
                [
                    "file": file, "date": Date(timeIntervalSinceReferenceDate: 794_534_400.123_456),
                    "place": CLLocation(latitude: 52.5, longitude: -13.25), "bytes": Data([0, 255]),
                    "list": ["a", "b"], "number": Int64.max, "ratio": 0.1,
                ]
            )
            child.parent = CKRecord.Reference(record: parent, action: .none)
            let referrer = scene.record("b-referrer")
            referrer["target"] = CKRecord.Reference(record: child, action: .deleteSelf)
            _ = try await scene.database().modifyRecords(saving: [parent, child, referrer], deleting: [])

            let output = scene.path("out.jsonl")
            let exported = try await scene.records("export", ["--zone", "desk", "--output", output])
            #expect(exported.exitCode == 0, "\(exported.errors)")
            #expect(exported.output.hasPrefix("Exported 3 records"))
            #expect(try scene.tree("out.jsonl.assets").count == 1)
            let again = try await scene.records("export", ["--zone", "desk", "--output", output])
            #expect(again.exitCode == 73 && again.errors.contains("exists"), "\(again.errors)")

            // The lines in the wrong order, so that records come before their targets.
            let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
            let turned = try scene.write(lines.reversed().joined(separator: "\n") + "\n", to: "turned.jsonl")
            let arguments = [turned, "--assets", output + ".assets", "--json"]
            let missing = try await scene.records("import", arguments, container: Self.other)
            #expect(missing.exitCode == 65 && missing.errors.contains("--create-zones"), "\(missing.errors)")
            let dry = try await scene.records(
                "import",
                arguments + ["--create-zones", "--dry-run"],
                container: Self.other
            )
            #expect(dry.exitCode == 0 && dry.output.contains(#""created" : 3"#), "\(dry.errors)")
            // Each batch has one record, so two of them wait for the next reading.
            let done = try await scene.records(
                "import",
                arguments + ["--create-zones", "--set", "request_items_max=1"],
                container: Self.other
            )
            #expect(
                done.exitCode == 0 && done.output.contains(#""created" : 3"#),
                "\(done.errors)\(done.output)"
            )
            let repeated = try await scene.records("import", arguments, container: Self.other)
            #expect(
                repeated.exitCode == 0 && repeated.output.contains(#""unchanged" : 3"#),
                "\(repeated.errors)"
            )

            let before = try await Self.contents(scene, BackupScene.containerID)
            #expect(before.count == 3 && before["a-child"]?.contains("z-parent") == true)
            #expect(try await Self.contents(scene, Self.other) == before)
            let verified = try await scene.verify()
            #expect(verified.exitCode == 0 && verified.output.contains("2 assets"), "\(verified.output)")
        }
    }

    @Test
    func `an asset without its file, or with another, is refused`() async throws {
        try await BackupScene.run { scene in
            let hash = String(repeating: "0a", count: 32)
            let text =
                #""file":{"type":"ASSETID","value":{"fileChecksum":"\#(hash)","size":4}}"#
            let path = try scene.write(recordText("old", "") + recordText("new", text), to: "lost.jsonl")
            let without = try await scene.records("import", [path])
            #expect(without.exitCode == 65 && without.output.contains("created 1"), "\(without.errors)")
            #expect(without.errors.contains("line 2: the record 'new': its asset"), "\(without.errors)")
            try FileManager.default.createDirectory(
                atPath: path + ".assets",
                withIntermediateDirectories: true
            )
            _ = try scene.write("abcd", to: "lost.jsonl.assets/" + hash)
            let damaged = try await scene.records("import", [path])
            #expect(damaged.exitCode == 65 && damaged.errors.contains("has other bytes"), "\(damaged.errors)")
            #expect(try await scene.names() == ["old"])
            #expect(try scene.tree("data").keys.allSatisfy { !$0.hasPrefix("assets/") || $0.count < 11 })
        }
    }

    @Test
    func `a conflict does not stop an import, and policies decide`() async throws {
        try await BackupScene.run { scene in
            _ = try await scene.save(recordText("a", #""text":{"value":"there"},"size":{"value":1}"#))
            let text =
                recordText("b", "") + recordText("a", tag: "zz", #""text":{"value":"file"}"#)
                + recordText("c", "")
            let path = try scene.write(text, to: "in.jsonl")
            let dry = try await scene.records("import", [path, "--dry-run"])
            #expect(
                dry.exitCode == 65 && dry.output.hasPrefix("Would be: created 2, changed 0"),
                "\(dry.output)"
            )
            #expect(try await scene.names() == ["a"])
            let first = try await scene.records("import", [path])
            #expect(first.exitCode == 65, "\(first.output)")
            #expect(first.output == "Records: created 2, changed 0, unchanged 0, skipped 0, refused 1.\n")
            #expect(first.errors.contains("line 2: the record 'a': It differs"), "\(first.errors)")
            let forced = try await scene.records("import", [path, "--policy", "all-keys"])
            #expect(
                forced.exitCode == 0 && forced.output.contains("changed 1, unchanged 2"),
                "\(forced.output)"
            )
            let record = try await scene.database().record(for: scene.record("a").recordID)
            #expect(record.allKeys() == ["text"] && record["text"] as? String == "file")
        }
    }

    @Test
    func `a file with an error changes nothing`() async throws {
        try await BackupScene.run { scene in
            let good = (0..<500).map { recordText("n\($0)", #""text":{"value":"x"}"#) }.joined()
            let last = recordText("last", "")
            let cases: [(Data, String)] = [
                (Data((good + "{\"recordName\":").utf8), "line 501, column 15: the text ends"),
                (Data((good + recordText("n7", "")).utf8), "line 501: the record 'n7' is also in line 8"),
                (Data((good + last.replacingOccurrences(of: "}}\n", with: "}")).utf8), "line 501, column"),
                (Data((good + "[" + last).utf8), "line 502, column 1: the text ends"),
                (Data((good + "x" + last).utf8), "line 501, column 1: expected '{'"),
                (Data((good + recordText("b", #""n":{"value":[[1]]}"#)).utf8), "the field 'n'"),
                (
                    Data((good + "{\"a\":" + String(repeating: "[", count: 50_000)).utf8),
                    "more than 32 levels"
                ),
                (
                    Data((good + "{\"recordName\":\"" + String(repeating: "x", count: 9_000_000)).utf8),
                    "line 501"
                ),
                (Data(good.utf8) + Data([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D]), "not UTF-8"),
            ]
            for (index, (data, text)) in cases.enumerated() {
                let path = scene.path("bad-\(index).jsonl")
                try data.write(to: URL(fileURLWithPath: path))
                let outcome = try await scene.records("import", [path])
                #expect(
                    outcome.exitCode == 65 && outcome.errors.contains(text),
                    "\(index): \(outcome.errors.suffix(300))"
                )
                #expect(outcome.errors.contains("Nothing was written."), "\(index)")
            }
            #expect(try await scene.names().isEmpty)
            let absent = try await scene.records("import", [scene.path("absent.jsonl")])
            #expect(absent.exitCode == 65 && absent.errors.contains("cannot be read"))
        }
    }

    @Test
    func `a table in CSV is imported with its types`() async throws {
        try await BackupScene.run { scene in
            let text =
                "recordName,title,size:INT64,ratio:DOUBLE,tags:STRING_LIST\n"
                + "one,\"Hello, world\",3,0.5,\"[\"\"a\"\",\"\"b\"\"]\"\ntwo,,4,1,\n"
            let path = try scene.write(text, to: "in.csv")
            let done = try await scene.records("import", [path, "--type", "Note", "--zone", "desk"])
            #expect(done.exitCode == 0 && done.output.contains("created 2"), "\(done.errors)")
            let record = try await scene.database().record(for: scene.record("one").recordID)
            #expect(record["title"] as? String == "Hello, world" && record["size"] as? Int64 == 3)
            #expect(record["tags"] as? [String] == ["a", "b"])
            let wrong = try scene.write(text.replacingOccurrences(of: ",4,", with: ",x,"), to: "wrong.csv")
            let refused = try await scene.records("import", [wrong, "--type", "Note", "--zone", "desk"])
            #expect(
                refused.exitCode == 65 && refused.errors.contains("line 3, column 6: the field 'size'"),
                "\(refused.errors)"
            )
        }
    }

    @Test
    func `an import that is killed is run again, and a quota stops it`() async throws {
        try await BackupScene.run { scene in
            let body = String(repeating: "x", count: 1_000)
            let text = (0..<3_000).map { recordText("n\($0)", #""text":{"value":"\#(body)"}"#) }.joined()
            let path = try scene.write(text, to: "in.jsonl")
            let listener = try scene.listener(in: TemporaryDirectory(), "--zone", "desk")
            try await listener.says("subscribed")
            let import1 = try ChildProcess(
                ChildProcess.tidemark,
                ["records", "import", path] + scene.place()
            )
            // Something is written.
            _ = try await listener.lines(1)
            import1.signal(SIGKILL)
            _ = await import1.outcome()
            let written = try await scene.names().count
            #expect(written > 0 && written % 400 == 0 || written == 3_000, "\(written)")

            let quota = try await scene.records(
                "import",
                [path, "--set", "user_bytes_max=1000000", "--policy", "changed-keys"]
            )
            if written < 3_000 {
                #expect(quota.exitCode == 65 && quota.errors.contains("the import stops"), "\(quota.errors)")
                #expect(try await scene.names().count == written)
            }
            let done = try await scene.records("import", [path, "--json"])
            #expect(done.exitCode == 0, "\(done.errors)")
            #expect(done.output.contains("\"created\" : \(3_000 - written)"), "\(done.output)")
            #expect(done.output.contains("\"unchanged\" : \(written)"), "\(done.output)")
            // What a command has reported is on disk, whatever becomes of the server.
            await scene.server.end(SIGKILL)
            try await scene.server.start()
            #expect(try await scene.names().count == 3_000)
        }
    }
}
