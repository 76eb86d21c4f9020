import Crypto
import Foundation
import TestSupport
import Testing

/// Telemetry, logs, backups and assets of a real server, in the console of a real folder.
@Suite(.timeLimit(.minutes(10)))
struct OperationProcessTests {
    private static let container = "iCloud.org.example.app"

    private func open(_ server: ServerProcess) async throws -> (process: ChildProcess, client: ConsoleClient)
    {
        let process = try ChildProcess(
            ChildProcess.tidemark,
            ["console", "--no-open", "--data", server.dataPath]
        )
        let text = await process.find { $0.contains("/open/") && $0.contains("ssh -L") ? $0 : nil }
        var (client, linkPath) = try #require(ConsoleClient.printed(text ?? ""), "\(process.errorsSoFar)")
        _ = try await client.open(linkPath)
        return (process, client)
    }

    /// With alice, who has saved a note.
    private func fill(_ server: ServerProcess) async throws {
        try await server.administer(["container", "create", Self.container])
        try await server.administer(["user", "add", "alice", "--container", Self.container])
        let file = server.folder.path + "/record.json"
        try #"{"recordName":"first","recordType":"Note","fields":{"title":{"value":"Hello"}}}"#
            .write(toFile: file, atomically: false, encoding: .utf8)
        try await server.administer(
            ["records", "save", "--as", "alice", "--container", Self.container, "--file", file]
        )
    }

    private func secret(_ page: String) throws -> Substring {
        try #require(page.firstMatch(of: /name="secret" value="([^"]+)"/)).1
    }

    @Test
    func `a server's figures and log are shown beside it, and after it was killed`() async throws {
        let server = try ServerProcess()
        let log = server.folder.path + "/server.log"
        server.settings = ["--set", "log_file=\(log)", "--log-level", "debug"]
        try await self.fill(server)
        try await server.start()
        let (process, client) = try await self.open(server)
        let before = try await client.get("/telemetry")
        #expect(before.status == 200)
        // An edit through the server is a request that it counts.
        let place = "/c/\(Self.container)/development"
        let own = "database=private&user=alice&name=first"
        let edit = try await client.get(place + "/edit?\(own)").body
        let tag = try #require(edit.firstMatch(of: /name="tag" value="([^"]+)"/)).1
        let base = "%7B%22title%22%3A%7B%22value%22%3A%22Hello%22%7D%7D"
        let saved = try await client.post(
            place + "/edit/save",
            "secret=\(try self.secret(edit))&\(own)&tag=\(tag)&base=\(base)&text=\(base.replacing("Hello", with: "Bye"))"
        )
        #expect(saved.status == 303, "\(saved.body)")
        let lines = try await client.get("/logs?text=listening").body
        #expect(lines.contains("listening") && lines.contains("class=\"level\">info"))
        #expect(await server.end(SIGTERM) == 0)
        let after = try await client.get("/telemetry").body
        #expect(after.contains("data-name=\"modify_records\""))
        #expect(after.contains("data-name=\"commits\""))
        let commits = try await client.get("/telemetry/commits").body
        #expect(commits.firstMatch(of: /<span class="number">0?\.?[1-9]/) != nil, "a save was counted")
        #expect(
            try await client.get("/logs").body.contains("<bdi>stopped</bdi>"),
            "the lock names the log of a server that has ended"
        )
        // Killed: what was written before is there, and the next server goes on.
        try await server.start()
        #expect(await server.end(SIGKILL) != 0)
        #expect(try await client.get("/telemetry").status == 200)
        try await server.start()
        #expect(await server.end(SIGTERM) == 0)
        #expect(try await client.get("/telemetry").body.contains("data-name=\"modify_records\""))
        process.signal(SIGTERM)
        #expect(await process.outcome().exitCode == 0)
    }

    @Test
    func `a backup that the page makes can be restored, is noted, and leaves a line`() async throws {
        let server = try ServerProcess()
        try await self.fill(server)
        try await server.start()
        let (process, client) = try await self.open(server)
        let page = try await client.get("/backups").body
        #expect(page.contains("No complete backup of this folder is known."))
        let target = server.folder.path + "/backups/one"
        try FileManager.default.createDirectory(
            atPath: server.folder.path + "/backups",
            withIntermediateDirectories: true
        )
        func make(_ path: String) async throws -> String {
            let form = "secret=\(try self.secret(page))&served=yes&path=\(path)"
            #expect(try await client.post("/backups", form).status == 303)
            for _ in 0..<60_000 {
                let page = try await client.get("/backups").body
                if !page.contains("<progress") { return page }
                try await Task.sleep(for: .milliseconds(10))
            }
            return ""
        }
        let made = try await make(target)
        #expect(made.contains("is complete:") && made.contains("<span class=\"good\">complete</span>"))
        #expect(FileManager.default.fileExists(atPath: target + "/backup.json"))
        // The same folder again is not empty: the error of the command, without its options.
        let again = try await make(target)
        #expect(again.contains("a backup overwrites nothing") && !again.contains("--to"))
        let absent = try await make("/proc/none/x")
        #expect(absent.contains("There is no backup in"))
        // A drill by the command is known to the page, and so is a backup that nobody noted.
        try FileManager.default.copyItem(atPath: target, toPath: server.folder.path + "/backups/zwei")
        try await server.administer(["backup", "--drill", "--from", target])
        let known = try await client.get("/backups").body
        #expect(known.contains("/backups/zwei"))
        #expect(known.contains("<span class=\"good\">passed</span>"))
        #expect(known.contains("value=\"\(server.folder.path)/backups/20"))
        process.signal(SIGTERM)
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors.contains(" backed up \(server.dataPath) to \(target)\n"))
        #expect(await server.end(SIGTERM) == 0)
        let restored = server.folder.path + "/restored"
        let restore = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["restore", "--from", target, "--data", restored]
        )
        #expect(restore.exitCode == 0)
        let records = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["records", "get", "first", "--as", "alice", "--container", Self.container, "--data", restored]
        )
        #expect(records.output.contains("Hello"))
    }

    // MARK: Assets

    /// Bytes of an asset, and whether a browser may show them.
    private static let png =
        Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        + Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    private static let page = Data("<!doctype html><script>alert(1)</script>".utf8)
    private static let drawing = Data("<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>".utf8)

    /// Imports a record whose fields are assets of these contents.
    ///
    /// - Returns: The hashes by field.
    private func importFiles(
        _ contents: [String: Data],
        to server: ServerProcess
    ) async throws -> [String: String] {
        let file = server.folder.path + "/assets.jsonl"
        try FileManager.default.createDirectory(atPath: file + ".assets", withIntermediateDirectories: true)
        var fields: [String] = []
        var hashes: [String: String] = [:]
        for (name, data) in contents.sorted(by: { $0.key < $1.key }) {
            let hash = SHA256.hash(data: data).map { String(format: "%02x", $0) }.joined()
            hashes[name] = hash
            try data.write(to: URL(fileURLWithPath: file + ".assets/" + hash))
            fields.append(
                #""\#(name)":{"type":"ASSETID","value":{"fileChecksum":"\#(hash)","size":\#(data.count)}}"#
            )
        }
        try #"{"recordName":"files","recordType":"File","fields":{\#(fields.joined(separator: ","))}}"#
            .write(toFile: file, atomically: false, encoding: .utf8)
        try await server.administer(
            ["records", "import", file, "--as", "alice", "--container", Self.container]
        )
        return hashes
    }

    @Test
    func `an asset is downloaded bit by bit, and only an image is shown`() async throws {
        let server = try ServerProcess()
        try await self.fill(server)
        let contents = ["image": Self.png, "page": Self.page, "drawing": Self.drawing]
        let hashes = try await self.importFiles(contents, to: server)
        let (process, client) = try await self.open(server)
        let place = "/c/\(Self.container)/development"
        let record = try await client.get(place + "/record?database=private&user=alice&name=files").body
        let links = record.matches(of: /href="([^"]*\/asset\?[^"]*)"/).map { $0.1.unescaped }
        for (name, data) in contents {
            let hash = try #require(hashes[name])
            let link = try #require(links.first { $0.contains(hash) && !$0.contains("preview") }, "\(name)")
            let download = try await client.get(link)
            #expect(download.status == 200)
            #expect(Data(download.bytes) == data, "\(name)")
            let sum = SHA256.hash(data: Data(download.bytes)).map { String(format: "%02x", $0) }
                .joined()
            #expect(sum == hash)
            #expect(download.fields["content-disposition"]?.hasPrefix("attachment") == true)
            #expect(download.fields["content-type"] == "application/octet-stream")
            #expect(download.fields["content-security-policy"]?.hasPrefix("sandbox") == true)
            #expect(download.fields["x-content-type-options"] == "nosniff")
            let preview = try await client.get(link + "&preview=1")
            guard name == "image" else {
                #expect(preview.status == 415, "\(name)")
                #expect(preview.fields["content-type"] == "text/html; charset=utf-8")
                #expect(!preview.body.contains("alert(1)"))
                continue
            }
            #expect(preview.status == 200 && Data(preview.bytes) == data)
            #expect(preview.fields["content-type"] == "image/png")
            #expect(preview.fields["content-security-policy"]?.hasPrefix("sandbox") == true)
        }
        // A hash alone opens nothing: the record has to name the asset.
        let hash = try #require(hashes["page"])
        for query in [
            "name=first&sha256=\(hash)", "name=files&sha256=\(String(repeating: "0", count: 64))",
            "name=files&sha256=\(hash)0", "name=files&sha256=..%2F..%2Fetc%2Fpasswd", "name=files",
        ] {
            let response = try await client.get(place + "/asset?database=private&user=alice&" + query)
            #expect([400, 404].contains(response.status), "\(query)")
        }
        // A file that is gone is told, and a shorter one breaks the response off.
        let stored = try FileManager.default.subpathsOfDirectory(atPath: server.dataPath + "/assets")
            .map { server.dataPath + "/assets/" + $0 }
        let image = try #require(
            stored.first { FileManager.default.contents(atPath: $0)?.count == Self.png.count }
        )
        let link = try #require(links.first { $0.contains(hashes["image"]!) && !$0.contains("preview") })
        try FileHandle(forUpdating: URL(fileURLWithPath: image)).truncate(atOffset: 1_000)
        #expect(!(try await client.get(link).isComplete))
        unlink(image)
        #expect(try await client.get(link).status == 404)
        process.signal(SIGTERM)
        #expect(await process.outcome().exitCode == 0)
    }
}
