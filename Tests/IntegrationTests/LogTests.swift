import Foundation
import Logging
import RecordModel
import RecordServer
import Synchronization
import TestSupport
import Testing

@testable import tidemark

/// What the server writes to its log.
@Suite(.timeLimit(.minutes(10)))
struct LogTests {
    private static let time = Date(timeIntervalSince1970: 1_795_456_716.0715)
    private static let metadata: Logger.Metadata = [
        "port": .stringConvertible(7_430), "host": "127.0.0.1", "ratio": .stringConvertible(2.5),
        "isLast": .stringConvertible(true), "detail": "", "reason": "it \"ended\"\n",
    ]

    private func line(_ metadata: Logger.Metadata = LogTests.metadata) -> LogLine {
        LogLine(time: Self.time, level: .info, logger: "tidemark", event: "it began", metadata: metadata)
    }

    @Test
    func `a line of text has the time with its zone, the level, the event and then its keys`() {
        #expect(
            self.line().text == """
                2026-11-23T17:58:36.071Z info it began host=127.0.0.1 isLast=true port=7430 ratio=2.5 \
                reason="it \\"ended\\"\\n"

                """
        )
    }

    @Test(
        arguments: [
            ("plain", "plain"), ("a b", "\"a b\""), ("a=b", "\"a=b\""), ("é/ö", "é/ö"),
            ("a\\b", #""a\\b""#), ("\u{1B}[2J", #""\u001b[2J""#), ("\u{9B}2J", #""\u009b2J""#),
            ("x\u{2028}y", #""x\u2028y""#),
            ("a\u{202E}b", #""a\u202eb""#), ("\u{61C}\u{2069}", #""\u061c\u2069""#),
        ]
    )
    func `a value is quoted when it would be read as something else`(value: String, written: String) {
        #expect(self.line(["key": "\(value)"]).text.hasSuffix(" it began key=\(written)\n"))
    }

    @Test
    func `a line of JSON has numbers as numbers, and the same time`() throws {
        let line = self.line().json
        #expect(line.hasSuffix("}\n"))
        #expect(line.filter { $0 == "\n" }.count == 1)
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        )
        #expect(object["time"] as? String == "2026-11-23T17:58:36.071Z")
        #expect(object["level"] as? String == "info")
        #expect(object["message"] as? String == "it began")
        #expect(object["logger"] as? String == "tidemark")
        let metadata = try #require(object["metadata"] as? [String: Any])
        #expect(metadata["port"] as? Int == 7_430)
        #expect(metadata["ratio"] as? Double == 2.5)
        #expect(metadata["isLast"] as? Bool == true)
        #expect(metadata["reason"] as? String == "it \"ended\"\n")
        #expect(metadata["detail"] == nil)
        #expect(line.contains(#""port":7430,"#))
    }

    @Test
    func `what the logger carries, what the event carries and an error are in one line`() {
        let box = Lines()
        var handler = LineLogHandler(label: "x", format: .text) { box.add($0) }
        handler.metadata["a"] = "1"
        handler.metadata["b"] = "1"
        let logger = Logger(label: "x") { _ in handler }
        logger.warning("tried", metadata: ["b": "2"])
        #expect(box.all.count == 1)
        #expect(box.all.first?.hasSuffix("Z warning tried a=1 b=2\n") == true)
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { self.lines.withLock { $0 } }
        func add(_ line: String) { self.lines.withLock { $0.append(line) } }
    }

    @Test
    func `settings are logged where they differ from the defaults, and all of them at debug`() {
        func log(_ settings: Settings, _ level: Logger.Level) -> [String] {
            let box = Lines()
            var logger = Logger(label: "x") { LineLogHandler(label: $0, format: .text) { box.add($0) } }
            logger.logLevel = level
            settings.log(to: logger)
            return box.all
        }
        #expect(log(.defaults, .info) == [])
        var settings = Settings.defaults
        settings.server.bounds.inFlightMax = 77
        settings.tlsHosts = ["db.example.org"]
        let lines = log(settings, .debug)
        #expect(
            lines.first?.hasSuffix(
                " settings that differ from the defaults in_flight_max=77 tls_hosts=db.example.org\n"
            ) == true
        )
        #expect(lines.count == 2)
        #expect(lines.last?.contains(" request_items_max=400 ") == true)
    }

    @Test
    func `a server that cannot start says why in the format that was asked for`() async throws {
        let folder = try TemporaryDirectory()
        try "mine".write(toFile: folder.path + "/data", atomically: true, encoding: .utf8)
        let outcome = try await ChildProcess.tidemark(
            "serve",
            "--data",
            folder.path + "/data",
            "--listen",
            "127.0.0.1:0",
            "--log-format",
            "json"
        )
        #expect(outcome.exitCode != 0)
        let last = try #require(outcome.errors.split(separator: "\n").last)
        for line in outcome.errors.split(separator: "\n") {
            #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any], "\(line)")
        }
        let text =
            #""level":"critical","message":"the server cannot run","metadata":{"reason":"\#(folder.path)"#
        #expect(last.contains(text), "\(last)")
    }

    /// Reads the calls of the sources and the table of the operators' guide.
    @Test
    func `each level that the server logs at has a row in the guide, and no other level`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources")
        var used: Set<String> = []
        for module in ["tidemark", "RecordServer", "MonitoringEndpoint"] {
            let folder = root.appendingPathComponent(module).path
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder)
            where name.hasSuffix(".swift") {
                let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
                let calls = text.matches(
                    of: /ogger\)?\.(trace|debug|info|notice|warning|error|critical)\(\s*"/
                )
                used.formUnion(calls.map { String($0.1) })
            }
        }
        let guide = try String(
            contentsOf: root.appendingPathComponent("tidemark/Guides/Production.md"),
            encoding: .utf8
        )
        let table = try #require(guide.components(separatedBy: "| level | what it says |").dropFirst().first)
        let rows = table.split(separator: "\n").dropFirst().prefix { $0.hasPrefix("| `") }
        let cells = rows.compactMap { $0.split(separator: "|").first }
        let documented = cells.flatMap { $0.matches(of: /`([a-z]+)`/).map { String($0.1) } }
        #expect(Set(documented) == used.union(["critical"]))
        #expect(used.isSuperset(of: ["debug", "info", "notice", "warning", "error"]))
    }

    @Test(arguments: ["text", "json"])
    func `every line of a server is in the format that was asked for`(format: String) async throws {
        let folder = try TemporaryDirectory()
        let server = try await ServerUnderTest.start(
            data: folder.path + "/data",
            "--log-format",
            format,
            "--set",
            "in_flight_max=77"
        )
        server.process.signal(SIGTERM)
        let log = await server.process.outcome().errors
        let lines = log.split(separator: "\n")
        #expect(lines.count >= 4)
        for line in lines {
            if format == "json" {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                let time = try #require(object?["time"] as? String)
                #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(line)")
            } else {
                #expect(
                    line.firstMatch(of: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (info|notice) [a-z]/) != nil,
                    "\(line)"
                )
            }
        }
        #expect(log.contains(format == "json" ? #""in_flight_max":77"# : " in_flight_max=77"))
        #expect(log.contains(format == "json" ? #""port":\#(server.port)"# : " port=\(server.port)"))
    }
}
