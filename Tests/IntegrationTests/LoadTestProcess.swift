import Foundation
import TestSupport
import Testing

/// `tidemark-load` against the real server, both in processes of their own.
struct LoadTestProcess {
    static let container = "iCloud.org.example.load"

    let server: ServerProcess
    /// One a user.
    let tokens: [String]

    /// Starts a server with so many users, which writes its figures every second.
    static func start(users: Int = 2) async throws -> LoadTestProcess {
        let server = try ServerProcess()
        server.settings = [
            "--set", "metrics_file_interval_s=1", "--metrics-file", server.folder.path + "/metrics",
        ]
        try await server.administer(["container", "create", Self.container])
        var tokens: [String] = []
        for user in 0..<users {
            tokens.append(
                try await server.administer(["user", "add", "load\(user)", "--container", Self.container])
            )
        }
        try await server.start()
        try tokens.joined(separator: "\n").write(
            toFile: server.folder.path + "/tokens",
            atomically: true,
            encoding: .utf8
        )
        return LoadTestProcess(server: server, tokens: tokens)
    }

    var metricsPath: String { self.server.folder.path + "/metrics" }
    var jsonPath: String { self.server.folder.path + "/result.json" }

    /// Starts a run with the users of the server.
    func begin(_ arguments: [String], json: String? = nil) throws -> ChildProcess {
        var connection = [
            "--url", "tidemark://127.0.0.1:\(self.server.port)", "--ca", self.server.authorityPath,
            "--container", Self.container, "--tokens", self.server.folder.path + "/tokens",
            "--json", json ?? self.jsonPath,
        ]
        if !["bench", "--tenants"].contains(arguments.first) {
            connection += ["--server-metrics", self.metricsPath]
        }
        return try ChildProcess(
            ChildProcess.buildFolder.appendingPathComponent("tidemark-load"),
            arguments + connection
        )
    }

    /// Runs to the end.
    func run(_ arguments: String...) async throws -> ChildProcess.Outcome {
        try await self.begin(arguments).outcome()
    }

    /// Waits until a run says something.
    static func hear(_ text: String, from process: ChildProcess) async throws {
        while !process.errorsSoFar.contains(text) {
            try #require(!self.hasEnded(process.processID), "it has ended: \(process.errorsSoFar)")
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Whether a child is gone, or about to be.
    static func hasEnded(_ processID: Int32) -> Bool {
        let status = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8)
        return status?.contains(") Z ") ?? true
    }

    /// What the last row wrote.
    func benchReport() throws -> BenchResult {
        try JSONDecoder().decode(
            BenchResult.self,
            from: Data(contentsOf: URL(fileURLWithPath: self.jsonPath))
        )
    }

    /// What the last run wrote.
    func result(_ path: String? = nil) throws -> LoadTestResult {
        try JSONDecoder().decode(
            LoadTestResult.self,
            from: Data(contentsOf: URL(fileURLWithPath: path ?? self.jsonPath))
        )
    }
}

/// What a row of the comparison wrote.
struct BenchResult: Decodable {
    let row: String
    let ratePerSecond: Double
    let requests: Int
    let answerMilliseconds: LoadTestResult.Milliseconds?
    let messageBytes: Int?
}

/// Those parts of the JSON that tests look at, written down again from its description.
struct LoadTestResult: Decodable {
    struct Milliseconds: Decodable {
        let p50: Double
        let p90: Double
        let p99: Double
        let p999: Double
        let max: Double

        private enum CodingKeys: String, CodingKey {
            case p50, p90, p99, max
            case p999 = "p99.9"
        }
    }

    struct Operation: Decodable {
        let answers: Int
        let ratePerSecond: Double
        let recordsPerSecond: Double
        let failures: [String: Int]
        let milliseconds: Milliseconds
        let histogram: Histogram
    }

    struct Histogram: Decodable {
        let microseconds: [Int]
        let counts: [Int]
    }

    struct Overload: Decodable {
        struct Step: Decodable {
            let part: String
            let reserved: Int
            let retried: Int
        }

        let steps: [Step]
        let keptShare: Double?
        let recoverySeconds: Double
    }

    struct Second: Decodable {
        let answers: Int
        let failures: Int
        let p50: Double
        let p99: Double
        let max: Double
    }

    struct Server: Decodable {
        let commits: Double
        let recordsPerCommit: Double
    }

    struct Violation: Decodable {
        let kind: String
        let recordName: String
        let zone: String
        let expected: String
        let found: String
    }

    struct Violations: Decodable {
        let count: Int
        let first: [Violation]
    }

    struct Verification: Decodable {
        let records: Int
        let feedEnds: Int
        let violations: Violations
    }

    let version: Int
    let operations: [String: Operation]
    let perSecond: [[String: Second]]
    let replaced: Int
    let chaosSeconds: [Double]
    let stallSeconds: [Double]
    let server: Server?
    let verification: Verification?
    let highestRate: Double?
    let overload: Overload?
    let measuredSeconds: Double
    let isInterrupted: Bool
}
