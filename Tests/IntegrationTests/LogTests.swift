import Foundation
import Logging
import RecordModel
import RecordServer
import Synchronization
import TestSupport
import Testing

@testable import tidemark

/// What the server writes to its log.
@Suite(.timeLimit(.minutes(1)))
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
