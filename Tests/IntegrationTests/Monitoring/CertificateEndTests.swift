import Foundation
import Logging
import ServerCertificates
import TestSupport
import Testing

@testable import tidemark

/// How operators learn that the certificate which they brought is about to end.
@Suite(.timeLimit(.minutes(10)))
struct CertificateEndTests {
    private let directory: TemporaryDirectory
    private var chain: String { self.directory.path + "/chain.pem" }
    private var key: String { self.directory.path + "/key.pem" }
    private var metrics: String { self.directory.path + "/m.prom" }

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    /// Puts a certificate in place that ends in some days and an hour.
    private func write(daysLeft: Int) throws {
        // What is made is valid for 825 days, from an hour before.
        let start = Date(timeIntervalSinceNow: Double(daysLeft - 825) * 86_400 + 7_200)
        let made = try ServerCertificates.make(hosts: [], now: start)
        for (text, path) in [(made.chainPEM, self.chain), (made.keyPEM, self.key)] {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            chmod(path, 0o600)
        }
    }

    private func start() async throws -> ChildProcess {
        let process = try ChildProcess(
            ChildProcess.tidemark,
            [
                "serve", "--data", self.directory.path + "/data", "--listen", "127.0.0.1:0",
                "--tls-cert", self.chain, "--tls-key", self.key, "--metrics-file", self.metrics,
                "--set", "metrics_file_interval_s=1",
            ]
        )
        _ = await process.find { $0.firstMatch(of: /listens on (\S+)\n/) }
        return process
    }

    private func status() async throws -> (text: String, end: Date?) {
        let data = self.directory.path + "/data"
        let text = try await ChildProcess.tidemark("status", "--data", data)
        let json = try await ChildProcess.tidemark("status", "--json", "--data", data)
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        let end = try (object?["certificateEnd"] as? String).map { try Date($0, strategy: .iso8601) }
        return (text.output, end)
    }

    /// What the metrics say, in days from now.
    private func metricDays() -> Int? {
        let text = (try? String(contentsOfFile: self.metrics, encoding: .utf8)) ?? ""
        let match = text.firstMatch(of: /(?m)^tidemark_certificate_end_timestamp_seconds (\d+)$/)
        return match.flatMap { Double($0.1) }
            .map { Int(($0 - Date().timeIntervalSince1970) / 86_400) }
    }

    @Test
    func `a certificate that ends soon is in the log, the metrics and the status, also after a reload`()
        async throws
    {
        try self.write(daysLeft: 2)
        let process = try await self.start()
        await eventually { process.errorsSoFar.contains(" error the certificate ends soon ") }
        #expect(process.errorsSoFar.contains(" days_left=2 "), "\(process.errorsSoFar)")
        let status = try await self.status()
        let shown = status.text.firstMatch(of: #/, certificate until \S+ \(2 days left: renew it\), data /#)
        #expect(shown != nil, "\(status.text)")
        #expect(try #require(status.end).timeIntervalSinceNow < 3 * 86_400)
        await eventually { self.metricDays() == 2 }

        try self.write(daysLeft: 20)
        process.signal(SIGHUP)
        await eventually { process.errorsSoFar.contains(" warning the certificate ends soon ") }
        #expect(process.errorsSoFar.contains(" days_left=20 "), "\(process.errorsSoFar)")
        await eventually { self.metricDays() == 20 }

        try self.write(daysLeft: 90)
        process.signal(SIGHUP)
        await eventually { self.metricDays() == 90 }
        let renewed = try await self.status().text
        #expect(renewed.firstMatch(of: #/, certificate until \S+Z, data /#) != nil, "\(renewed)")
        process.signal(SIGTERM)
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors.matches(of: /the certificate ends soon/).count == 2)
    }

    @Test(
        arguments: [
            (31, nil), (30, nil), (29, .warning), (7, .warning), (6, .error), (0, .error), (-1, .error),
        ] as [(Int, Logger.Level?)]
    )
    func `a month is a warning, and a week an error`(days: Int, level: Logger.Level?) {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let end = CertificateEnd(seconds: 1_800_000_000 + Int64(days) * 86_400 + 60)
        #expect(end.daysLeft(at: now) == days)
        #expect(end.level(at: now) == level)
        #expect(end.text(at: now).contains("renew it") == (level != nil))
        #expect(end.text(at: now).contains("has ended") == (days < 0))
    }
}
