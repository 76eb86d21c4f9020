import Console
import Foundation
import Logging
import TestSupport
import Testing

@testable import tidemark

/// The file of the log, and where the console finds the log.
@Suite(.timeLimit(.minutes(10)))
struct TurnedLogTests {
    private let folder: TemporaryDirectory

    init() throws { self.folder = try TemporaryDirectory() }

    private var path: String { self.folder.path + "/server.log" }

    private func size(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }

    @Test
    func `a file and its older half stay within the bound, and the newest lines are there`() throws {
        let log = try TurnedLog(path: self.path, bytesMax: 10_000)
        for number in 0..<1_000 {
            log.write("line \(number) \(String(repeating: "x", count: 90))\n")
            #expect(self.size(self.path) + self.size(self.path + ".1") <= 10_000)
        }
        let lines = try [self.path + ".1", self.path].map { try String(contentsOfFile: $0, encoding: .utf8) }
            .joined().split(separator: "\n").compactMap { $0.split(separator: " ").dropFirst().first }
        #expect(lines.last == "999")
        let numbers = lines.compactMap { Int($0) }
        #expect(numbers == Array((numbers.first ?? 0)...999), "no line is missing between the halves")
        #expect(numbers.count >= 48)
        let attributes = try FileManager.default.attributesOfItem(atPath: self.path)
        #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o777 } == 0o600)
        // The next server goes on behind them.
        try TurnedLog(path: self.path, bytesMax: 10_000).write("next\n")
        #expect(try String(contentsOfFile: self.path, encoding: .utf8).hasSuffix("next\n"))
    }

    @Test
    func `a path that takes no log is refused with what to do`() throws {
        #expect(mkfifo(self.path, 0o600) == 0)
        for path in [self.path, self.folder.path, self.folder.path + "/absent/log"] {
            let failure = #expect(throws: CommandFailure.self) { try TurnedLog(path: path, bytesMax: 65_536) }
            #expect(failure?.code == .cannotCreate)
            #expect(failure?.message.contains(path) == true)
        }
    }

    @Test
    func `the file has JSON, whatever standard error has`() throws {
        var settings = Settings.defaults
        try TextSetting.logFile.assign([self.path], to: &settings)
        let file = try #require(try settings.openLogFile())
        let logger = Logger(label: "tidemark") { label in
            LineLogHandler(label: label, format: .text, file: file, write: { _ in })
        }
        logger.info("it began", metadata: ["user": "alice"])
        let text = try String(contentsOfFile: self.path, encoding: .utf8)
        #expect(text.hasPrefix("{\"time\":"))
        #expect(text.contains("\"metadata\":{\"user\":\"alice\"}"))
        #expect(throws: CommandFailure.self) { try TextSetting.logFile.assign(["/a\nb"], to: &settings) }
    }

    // MARK: The place

    @Test
    func `the lock says where the log is`() throws {
        for place in [.file("/var/log/a b.log"), .journal(unit: "tidemark@a.service"), .unknown]
            as [LogDestination]
        {
            var service = LockHolder.Service(
                listen: ListenAddress.defaults,
                version: "1",
                format: 2,
                since: "2026-11-26T00:00:00Z"
            )
            service.log = place
            let holder = LockHolder(process: 7, service: service)
            #expect(LockHolder(holder.text) == holder)
        }
        for line in ["file relative", "journal a b.service", "journal --x.service/../y", "journal x", "x"] {
            #expect(LogDestination(line: line) == nil, "\(line)")
        }
    }

    @Test
    func `a server under systemd says which unit has its log`() throws {
        let file = try FileHandle(forWritingTo: self.emptyFile())
        let status = try #require(OpenedFileStatus(of: file.fileDescriptor))
        let groups = "0::/system.slice/tidemark.service\n"
        func place(_ stream: String?, _ groups: String?, file path: String? = nil) -> LogDestination {
            LogDestination.ofServer(
                filePath: path,
                environment: stream.map { ["JOURNAL_STREAM": $0] } ?? [:],
                groups: groups,
                errors: file.fileDescriptor
            )
        }
        let own = "\(status.device):\(status.number)"
        #expect(place(own, groups) == .journal(unit: "tidemark.service"))
        #expect(
            place(own, "1:name=systemd:/user.slice/a.scope\n" + groups) == .journal(unit: "tidemark.service")
        )
        // Standard error was led elsewhere, or the variable is that of another process.
        #expect(place("1:1", groups) == .unknown)
        #expect(place(nil, groups) == .unknown)
        #expect(place(own, "0::/user.slice/session-1.scope\n") == .unknown)
        #expect(place(own, nil) == .unknown)
        #expect(place(own, groups, file: "/a") == .file("/a"))
    }

    private func emptyFile() throws -> URL {
        let url = URL(fileURLWithPath: self.folder.path + "/errors")
        try Data().write(to: url)
        return url
    }
}
