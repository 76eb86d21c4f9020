import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import tidemark

/// What the journal of systemd gets on standard error.
@Suite(.timeLimit(.minutes(10)))
struct JournalTests {
    /// Runs the program with standard error as the stream that systemd names.
    private func underSystemd(_ arguments: String...) throws -> ChildProcess {
        let script = #"export JOURNAL_STREAM=$(stat -L -c %d:%i /dev/stderr); exec "$0" "$@""#
        return try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", script, ChildProcess.tidemark.path] + arguments
        )
    }

    @Test(
        arguments: [
            (.critical, 2), (.error, 3), (.warning, 4), (.notice, 5), (.info, 6), (.debug, 7), (.trace, 7),
        ] as [(Logger.Level, Int)]
    )
    func `a line has the priority of its level`(level: Logger.Level, priority: Int) {
        let lines = Mutex<[String]>([])
        var logger = Logger(label: "x") {
            LineLogHandler(label: $0, format: .text, hasPriorities: true) { line in
                lines.withLock { $0.append(line) }
            }
        }
        logger.logLevel = .trace
        logger.log(level: level, "it began")
        let written = lines.withLock { $0 }
        #expect(written.count == 1)
        #expect(written.first?.hasPrefix("<\(priority)>2") == true, "\(written)")
        #expect(written.first?.hasSuffix(" it began\n") == true, "\(written)")
    }

    @Test
    func `each line of a text has the priority, and nothing else changes`() {
        #expect(Journal.prioritized("a\n\nb\n", .error) == "<3>a\n\n<3>b\n")
    }

    @Test(arguments: ["text", "json"])
    func `all that a server writes for the journal has a priority, and its file has none`(
        format: String
    ) async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/log"
        let process = try self.underSystemd(
            "serve",
            "--data",
            folder.path + "/data",
            "--listen",
            "127.0.0.1:0",
            "--log-format",
            format,
            "--set",
            "log_file=\(path)"
        )
        _ = await process.find { $0.firstMatch(of: /listens on/) }
        process.signal(SIGTERM)
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 0)
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count >= 3)
        for line in lines { #expect(line.firstMatch(of: /^<[2-7]>[{2]/) != nil, "\(line)") }
        let file = try String(contentsOfFile: path, encoding: .utf8)
        for line in file.split(separator: "\n") { #expect(line.hasPrefix("{"), "\(line)") }
    }

    @Test(arguments: ["text", "json"])
    func `the reason of a server that cannot run is found with journalctl -p err`(
        format: String
    ) async throws {
        let folder = try TemporaryDirectory()
        let outcome = try await self.underSystemd(
            "serve",
            "--data",
            folder.path + "/data",
            "--log-format",
            format,
            "--set",
            "log_file=\(folder.path)/none/log"
        ).outcome()
        #expect(outcome.exitCode == 73)
        let last = try #require(outcome.errors.split(separator: "\n").last)
        #expect(last.firstMatch(of: /^<[23]>.*\/none\/log/) != nil, "\(last)")
    }

    @Test
    func `without the journal, lines are as they were`() async throws {
        let folder = try TemporaryDirectory()
        let outcome = try await ChildProcess.tidemark(
            "serve",
            "--data",
            folder.path + "/data",
            "--set",
            "log_file=\(folder.path)/none/log",
            environment: ["JOURNAL_STREAM": "1:1"]
        )
        #expect(outcome.errors.hasPrefix("tidemark: "), "\(outcome.errors)")
    }
}
