import Foundation
import TestSupport
import Testing

/// A server and a command that begin together, and commands in folders that have no store.
@Suite(.timeLimit(.minutes(10)))
struct StartTests {
    private let directory: TemporaryDirectory
    private var data: String { self.directory.path + "/data" }

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures")

    /// Fifty times: half of the folders are new, the others have a store.
    @Test
    func `a server and a command that start together both succeed`() async throws {
        for round in 0..<50 {
            let data = self.directory.path + "/\(round)"
            if round % 2 == 1 { try Self.copyFixture(to: data) }
            let server = try ChildProcess(
                ChildProcess.tidemark,
                ["serve", "--data", data, "--listen", "127.0.0.1:0"]
            )
            let created = try await ChildProcess.tidemark("container", "create", "iCloud.new", "--data", data)
            let isListening = await server.find { $0.contains(" listens on ") ? true : nil }
            server.signal(SIGTERM)
            let outcome = await server.outcome()
            #expect(created.exitCode == 0, "round \(round): \(created.errors)")
            #expect(isListening == true && outcome.exitCode == 0, "round \(round): \(outcome.errors)")
            let listed = try await ChildProcess.tidemark("container", "list", "--data", data)
            #expect(listed.output.contains("iCloud.new\n"))
            try FileManager.default.removeItem(atPath: data)
        }
    }

    private static func copyFixture(to data: String) throws {
        try FileManager.default.createDirectory(
            atPath: data,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try FileManager.default.copyItem(
            atPath: Self.fixtures.appendingPathComponent("format-1.sqlite").path,
            toPath: data + "/tidemark.sqlite"
        )
    }

    /// As somebody pastes it: the shell starts the next line before the server has done anything.
    @Test
    func `a server in the background and the commands behind it are one pasted block`() async throws {
        let block = """
            tidemark serve --listen 127.0.0.1:0 >"$TIDEMARK_DATA.log" 2>&1 &
            tidemark container create iCloud.org.example.notes || exit 1
            export TIDEMARK_TOKEN=$(tidemark user add alice --container iCloud.org.example.notes)
            until grep -q ' listens on ' "$TIDEMARK_DATA.log"; do kill -0 $! || exit 2; sleep 0.05; done
            kill $!
            wait $! && echo "token $TIDEMARK_TOKEN"
            """
        for round in 0..<20 {
            let outcome = try await ChildProcess.run(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", block],
                environment: [
                    "PATH": ChildProcess.buildFolder.path + ":/usr/bin:/bin",
                    "TIDEMARK_DATA": self.directory.path + "/pasted-\(round)",
                ]
            )
            #expect(outcome.exitCode == 0, "round \(round): \(outcome.errors)")
            #expect(outcome.output.contains(/token tmk_[A-Za-z0-9_-]{43}\n/))
        }
    }

    private static let commands = [
        "container list", "container create iCloud.a", "user list --container iCloud.a", "usage",
        "key list --container iCloud.a", "schema export --container iCloud.a", "assets verify",
        "access r --container iCloud.a", "backup --to /nonexistent/backup",
    ]

    @Test(arguments: commands)
    func `a command makes no store where there is none, and touches nothing`(command: String) async throws {
        try FileManager.default.createDirectory(atPath: self.data, withIntermediateDirectories: true)
        try "nothing of ours".write(toFile: self.data + "/hosts", atomically: true, encoding: .utf8)
        let outcome = try await self.run(command)
        #expect(outcome.exitCode == 66, "\(outcome.errors)")
        #expect(outcome.errors.contains("tidemark serve --data \(self.data)"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.data) == ["hosts"])
    }

    @Test
    func `a command waits some seconds for a server in a folder that is absent, and makes none`() async throws
    {
        let outcome = try await self.run("container list")
        #expect(outcome.exitCode == 66)
        #expect(outcome.errors.contains("waiting for a server that is preparing \(self.data)\n"))
        #expect(outcome.errors.contains("tidemark serve --data \(self.data)"))
        #expect(!FileManager.default.fileExists(atPath: self.data))
    }

    @Test(arguments: ["usage", "serve --listen 127.0.0.1:0", "backup --to /nonexistent/backup"])
    func `a store of before the first release is refused, with what to do, and left as it is`(
        command: String
    ) async throws {
        try Self.copyFixture(to: self.data)
        let file = URL(fileURLWithPath: self.data + "/tidemark.sqlite")
        var bytes = try Data(contentsOf: file)
        // The name of the first migration, in its table and in the index of that.
        while let place = bytes.range(of: Data("0.1.0".utf8)) {
            bytes.replaceSubrange(place, with: Data("0.0.9".utf8))
        }
        try bytes.write(to: file)
        try PageSums.restore(inFile: file.path)
        bytes = try Data(contentsOf: file)
        let outcome = try await self.run(command)
        #expect(outcome.exitCode == 69)
        #expect(outcome.errors.contains("of a version before 0.1.0"), "\(outcome.errors)")
        #expect(outcome.errors.contains("tidemark zone export"))
        #expect(try Data(contentsOf: file) == bytes)
    }

    @Test(arguments: ["serve --listen 127.0.0.1:0", "usage", "backup --to /nonexistent/backup"])
    func `a spoilt database is damaged, and not a question of permission`(command: String) async throws {
        try FileManager.default.createDirectory(atPath: self.data, withIntermediateDirectories: true)
        let text = String(repeating: "This is no database. ", count: 1_000)
        try text.write(toFile: self.data + "/tidemark.sqlite", atomically: true, encoding: .utf8)
        let outcome = try await self.run(command)
        #expect(outcome.exitCode == 65, "\(outcome.errors)")
        #expect(outcome.errors.contains("tidemark restore --from"))
    }

    /// Only root may give a folder away, or run a program as somebody else.
    private static let isRoot = geteuid() == 0

    @Test(
        .enabled(if: isRoot, "only root can make another user's folder"),
        arguments: [
            "serve --listen 127.0.0.1:0", "usage", "container create iCloud.a", "backup --to /nonexistent",
            "restore --from /nonexistent",
        ]
    )
    func `root leaves another user's folder alone, and is told how to run the command`(
        command: String
    ) async throws {
        try FileManager.default.createDirectory(atPath: self.data, withIntermediateDirectories: true)
        try #require(chown(self.data, 65_534, 65_534) == 0)
        let outcome = try await self.run(command)
        #expect(outcome.exitCode == 77, "\(outcome.errors)")
        #expect(outcome.errors.contains("sudo -u nobody "), "\(outcome.errors)")
        #expect(outcome.errors.contains("tidemark \(command) --data \(self.data)\n"), "\(outcome.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.data).isEmpty)
    }

    @Test(
        .enabled(if: isRoot, "only root can become another user"),
        arguments: ["serve", "usage", "backup --to x"]
    )
    func `a user is told whose folder it is`(command: String) async throws {
        try await ServerProcess.makeStore(in: self.data)
        // What is tested is a folder that nobody may enter, below one that everybody may.
        chmod(self.directory.path, 0o755)
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/setpriv"),
            ["--reuid=65534", "--regid=65534", "--clear-groups", ChildProcess.tidemark.path]
                + command.split(separator: " ").map(String.init),
            environment: ["TIDEMARK_DATA": self.data]
        )
        #expect(outcome.exitCode == 77, "\(outcome.errors)")
        #expect(outcome.errors.contains("belongs to root, and this is nobody"), "\(outcome.errors)")
        #expect(outcome.errors.contains("sudo -u root "))
    }

    private func run(_ command: String) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(
            ChildProcess.tidemark,
            command.split(separator: " ").map(String.init),
            environment: ["TIDEMARK_DATA": self.data]
        )
    }
}
