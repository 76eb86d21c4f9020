import Foundation
import TestSupport
import Testing

@testable import Console

/// The server's log: its lines, filters, pages, and lines as they come.
@Suite(.timeLimit(.minutes(10)))
struct LogPageTests {
    private let folder: TemporaryDirectory

    init() throws { self.folder = try TemporaryDirectory() }

    private var path: String { self.folder.path + "/server.log" }

    private func write(_ lines: [String], to path: String? = nil) throws {
        let path = path ?? self.path
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(lines.map { $0 + "\n" }.joined().utf8))
        try file.close()
    }

    private static func json(_ number: Int, level: String = "info", _ metadata: String = "") -> String {
        #"{"time":"2026-11-26T08:00:00.123Z","level":"\#(level)","message":"event \#(number)","metadata":{\#(metadata)},"logger":"tidemark"}"#
    }

    private func filter(_ query: String) -> LogFilter { LogFilter(FormItems(query)) }

    // MARK: Lines

    @Test
    func `both formats give the same entry`() {
        let json = LogEntry(
            line:
                #"{"time":"2026-11-26T08:00:00.123Z","level":"warning","message":"sign-in refused","metadata":{"attempt":3,"peer":"127.0.0.1:9","reason":"it \"ended\""},"logger":"t"}"#
        )
        let text = LogEntry(
            line:
                #"2026-11-26T08:00:00.123Z warning sign-in refused attempt=3 peer=127.0.0.1:9 reason="it \"ended\"""#
        )
        #expect(json == text)
        #expect(json.level == .warning && json["reason"] == #"it "ended""#)
    }

    @Test(
        arguments: [
            "", " ", "{", "{}", "[1]", #"{"message":7}"#, "Tidemark 0.1.0 listens on 127.0.0.1:7430",
            "2026-11-26T08:00:00Z loud x", "2026 info", "T info x", "=", "a=b",
        ]
    )
    func `a line of another kind is an event without a level`(line: String) {
        let entry = LogEntry(line: line)
        #expect(entry.level == nil && entry.pairs.isEmpty && entry.message == line)
    }

    @Test
    func `no line can harm its reader, whatever it is cut at`() {
        let line = #"2026-11-26T08:00:00.123Z info it began a="b \" c\\" d= e="" f=g=h "i"#
        for count in 0...line.count { _ = LogEntry(line: line.prefix(count)) }
        #expect(LogEntry(line: line).pairs.map(\.key).prefix(4) == ["a", "d", "e", "f"])
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2_000 {
            let tail = (0..<20).map { _ in #" "\={}[]:ax,"#.randomElement(using: &generator)! }
            _ = LogEntry(line: "2026-11-26T08:00:00.123Z info x k=" + String(tail))
        }
        #expect(LogEntry(line: String(repeating: "[", count: 60_000)).level == nil)
        #expect(LogEntry(line: "{\"message\":" + String(repeating: "[", count: 60_000)).level == nil)
        #expect(LogEntry(line: String(repeating: "x", count: 1_000_000)).message.utf8.count < 2_000)
        let many = (0..<1_000).map { "\"k\($0)\":1" }.joined(separator: ",")
        #expect(LogEntry(line: Self.json(1, many)).pairs.count == LogEntry.pairsMax)
    }

    @Test
    func `a filter looks at level, text, user and request`() {
        let entry = LogEntry(
            line: Self.json(7, level: "error", #""user":"alice","request":"0a1b-22","code":"zone_busy""#)
        )
        for query in [
            "", "level=error", "level=info", "text=EVENT", "text=zone_b", "user=alice", "request=0A1B",
            "text=code%3D",
        ] {
            #expect(self.filter(query).admits(entry), "\(query)")
        }
        for query in ["level=critical", "text=other", "user=ali", "request=1b", "user=alice&level=critical"] {
            #expect(!self.filter(query).admits(entry), "\(query)")
        }
        #expect(!self.filter("level=trace").admits(LogEntry(line: "no level")))
        #expect(self.filter("level=loud").admits(entry), "an unknown level is none")
    }

    // MARK: Files

    @Test
    func `pages lead back through both files, and no line is lost or shown twice`() throws {
        try self.write((0..<250).map { Self.json($0) }, to: self.path + ".1")
        try self.write((250..<430).map { Self.json($0) })
        let file = LogFile(path: self.path)
        var numbers: [String] = []
        var before: String?
        var pages = 0
        repeat {
            let page = try file.page(before: before, self.filter(""))
            numbers += page.entries.map(\.message)
            before = page.older
            pages += 1
            // Lines that come meanwhile move nothing.
            try self.write([Self.json(1_000 + pages)])
        } while before != nil && pages < 20
        #expect(numbers == (0..<430).reversed().map { "event \($0)" })
        #expect(pages == 5)
    }

    @Test
    func `a page looks through a large file for a rare line, a bounded piece at a time`() throws {
        let filler = String(repeating: "x", count: 1_000)
        try self.write([Self.json(1, level: "error")])
        for _ in 0..<20 { try self.write((0..<1_000).map { _ in "2026-11-26T08:00:00Z info \(filler)" }) }
        let file = LogFile(path: self.path)
        let first = try file.page(before: nil, self.filter("level=error"))
        #expect(first.entries.isEmpty)
        let older = try #require(first.older)
        let second = try file.page(before: older, self.filter("level=error"))
        #expect(second.entries.map(\.message) == ["event 1"])
    }

    @Test
    func `a line without an end, and one of many megabytes, stop nobody`() throws {
        try self.write([Self.json(1)])
        try self.write([String(repeating: "y", count: 3_000_000)])
        try self.write([Self.json(2)])
        let half = try FileHandle(forWritingTo: URL(fileURLWithPath: self.path))
        try half.seekToEnd()
        try half.write(contentsOf: Data("{\"time\":".utf8))
        let file = LogFile(path: self.path)
        let page = try file.page(before: nil, self.filter(""))
        #expect(page.entries.first?.message == "event 2")
        #expect(page.entries.last?.message == "event 1")
        #expect(page.entries.allSatisfy { $0.message.utf8.count < 2_000 })
        // The rest of the line comes, and then it is one.
        try half.write(contentsOf: Data("\"\"}\n".utf8))
        #expect(try file.news(after: page.end, self.filter("")).entries.count == 1)
        var position = try file.news(
            after: LogFile(path: self.path).page(before: nil, self.filter("")).end,
            self.filter("")
        ).end
        #expect(try file.news(after: position, self.filter("")).entries.isEmpty)
        // From the beginning, over the long line.
        position = "\(position.prefix { $0 != "-" })-0"
        var seen: [String] = []
        for _ in 0..<30 {
            let news = try file.news(after: position, self.filter("text=event"))
            seen += news.entries.map(\.message)
            position = news.end
        }
        #expect(seen == ["event 1", "event 2"])
    }

    @Test
    func `what comes is followed over a turn of the file`() throws {
        try self.write([Self.json(1)])
        let file = LogFile(path: self.path)
        var position = try file.page(before: nil, self.filter("")).end
        try self.write([Self.json(2)])
        #expect(rename(self.path, self.path + ".1") == 0)
        try self.write([Self.json(3)])
        var seen: [String] = []
        for _ in 0..<5 {
            let news = try file.news(after: position, self.filter(""))
            seen += news.entries.map(\.message)
            position = news.end
        }
        #expect(seen == ["event 2", "event 3"])
        // Turned over twice: what there is comes again, rather than nothing ever.
        unlink(self.path + ".1")
        #expect(rename(self.path, self.path + ".old") == 0)
        try self.write([Self.json(4)])
        let gone = try file.news(after: position, self.filter(""))
        #expect(try file.news(after: gone.end, self.filter("")).entries.map(\.message) == ["event 4"])
        for bad in ["", "x", "1", "1-x", "-1-2", "1-2-3", "99999999999999999999-1"] {
            #expect(throws: PageFailure.self, "\(bad)") { try file.news(after: bad, self.filter("")) }
        }
        _ = try file.news(after: "\(position.prefix { $0 != "-" })-18446744073709551615", self.filter(""))
    }

    @Test
    func `the journal of systemd is read with its own program`() throws {
        // There is no journal of this unit, and perhaps none at all: the answer is an empty page, or why not.
        let journal = LogJournal(unit: "tidemark-test-\(UUID().uuidString).service", folder: self.folder.path)
        do {
            let page = try journal.page(before: nil, self.filter(""))
            #expect(page.entries.isEmpty && page.older == nil)
        } catch let failure as PageFailure {
            #expect(failure.text.contains("systemd-journal"))
        }
    }

    // MARK: Pages

    @Test
    func `hostile lines are drawn as text, on the page and as they come`() async throws {
        let scene = try ConsoleScene()
        let path = self.path
        scene.adjust { $0.log = { .file(path) } }
        let script = "<script>alert(1)</script>"
        let hostile =
            #"{"time":"<img src=x>","level":"error","message":"\#(script)\u202Efdp","metadata":{"user":"\"><img src=x onerror=alert(1)>","\#(script)":"\#(script)"}}"#
        try self.write([hostile, script, "\u{1B}[2J\u{0}"])
        try await scene.browsing { client in
            let page = try await client.get("/logs")
            #expect(page.status == 200)
            #expect(!page.body.contains("<script>") && !page.body.contains("<img"))
            #expect(
                !page.body.contains("\u{202E}") && !page.body.contains("\u{1B}") && !page.bytes.contains(0)
            )
            #expect(page.body.contains("<span class=\"odd\">U+202E</span>fdp"))
            let events = try #require(page.body.firstMatch(of: /data-log-events="([^"]+)"/)).1.unescaped
            let peer = try await client.peer("GET", events)
            _ = await peer.text { $0.contains(": begun") }
            try self.write([hostile])
            let text = await peer.text { $0.contains("[U+202E]fdp") }
            #expect(!text.contains("\u{202E}"))
            #expect(text.contains("\"level\":\"error\""))
            let id = try #require(text.firstMatch(of: /id: (\S+)/)).1
            await peer.close()
            // A stream goes on where it broke off.
            try self.write([Self.json(5)])
            let again = try await client.peer("GET", events, ["Last-Event-ID": String(id)])
            let rest = await again.text { $0.contains("event 5") }
            #expect(!rest.contains("fdp"))
            await again.close()
            #expect(try await client.get("/logs?level=error").body.matches(of: /<th scope="row"/).count == 2)
            #expect(try await client.get("/logs?before=1-1").body.contains("has been turned over"))
            #expect(try await client.get("/logs/events?from=x").status == 400)
            for query in ["text=\(script)", "user=%22%3E%3Cimg%3E", "request=%00", "level=%3Cb%3E"] {
                let found = try await client.get(
                    "/logs?" + query.replacing("<", with: "%3C").replacing("/", with: "%2F")
                )
                #expect(
                    found.status == 200 && !found.body.contains("<script>") && !found.body.contains("<img")
                )
            }
        }
        await scene.shutdown()
    }

    @Test
    func `a server without a log to read says what to do, and so does a file that is gone`() async throws {
        let scene = try ConsoleScene()
        try await scene.browsing { client in
            let page = try await client.get("/logs").body
            #expect(page.contains("--set log_file="))
            let events = try await client.get("/logs/events")
            #expect(events.status == 404)
        }
        let path = self.path
        scene.adjust { $0.log = { .file(path) } }
        try await scene.browsing { client in
            let page = try await client.get("/logs").body
            #expect(page.contains("There is no log at"))
        }
        await scene.shutdown()
    }

    // MARK: Codes

    @Test
    func `a code of a line leads to its meaning, which is that of the protocol`() async throws {
        let registry = try #require(try ProtocolFiles.json("registry.json") as? [String: Any])
        let rows = try #require(registry["error_codes"] as? [[String: Any]])
        #expect(CodeMeaning.all.map(\.number) == rows.map { $0["number"] as? Int })
        #expect(CodeMeaning.all.map(\.name) == rows.map { $0["name"] as? String })
        #expect(CodeMeaning.all.map(\.meaning) == rows.map { $0["meaning"] as? String })
        #expect(CodeMeaning.all.map(\.retry) == rows.map { $0["retry"] as? String })
        let scene = try ConsoleScene()
        let path = self.path
        scene.adjust { $0.log = { .file(path) } }
        try self.write([
            Self.json(1, level: "debug", #""code":"zone_not_found""#),
            Self.json(2, level: "debug", #""code":"<i>none</i>""#),
        ])
        try await scene.browsing { client in
            let page = try await client.get("/logs").body
            #expect(page.contains("<b>code</b> <a href=\"/logs/codes#zone_not_found\">"))
            #expect(page.contains("</b> <bdi>&lt;i&gt;none"), "what is no code leads nowhere")
            let codes = try await client.get("/logs/codes").body
            #expect(codes.contains("<code class=\"word\" id=\"zone_not_found\">zone_not_found</code>"))
            #expect(codes.contains("There is no zone of this name."))
            let events = try #require(page.firstMatch(of: /data-log-events="([^"]+)"/)).1.unescaped
            let peer = try await client.peer("GET", events)
            _ = await peer.text { $0.contains(": begun") }
            try self.write([Self.json(3, level: "debug", #""code":"quota_exceeded""#)])
            let text = await peer.text { $0.contains("quota_exceeded") }
            #expect(text.contains(#"["code","quota_exceeded","/logs/codes#quota_exceeded"]"#))
            await peer.close()
        }
        await scene.shutdown()
    }
}
