import Foundation
import TestSupport
import Testing

/// `tidemark` as an operator meets it.
@Suite(.timeLimit(.minutes(10)))
struct CommandLineTests {
    private let directory: TemporaryDirectory
    private var data: String { self.directory.path + "/data" }

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    private func permissions(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? NSNumber).intValue
    }

    @Test
    func `a container and its users are administered without a server`() async throws {
        let data = self.data
        try await ServerProcess.makeStore(in: data)
        let created = try await ChildProcess.tidemark("container", "create", "iCloud.a", "--data", data)
        #expect(created.exitCode == 0)
        let listed = try await ChildProcess.tidemark("container", "list", "--data", data)
        #expect(listed.output == "iCloud.a\n")

        let added = try await ChildProcess.tidemark(
            "user",
            "add",
            "alice",
            "--container",
            "iCloud.a",
            "--data",
            data
        )
        #expect(added.exitCode == 0)
        // The token alone, so that a script can take it as it is.
        #expect(added.output.wholeMatch(of: /tmk_[A-Za-z0-9_-]{43}\n/) != nil)
        let renewed = try await ChildProcess.tidemark(
            "user",
            "renew",
            "alice",
            "--container",
            "iCloud.a",
            "--data",
            data
        )
        #expect(renewed.output.wholeMatch(of: /tmk_[A-Za-z0-9_-]{43}\n/) != nil)
        #expect(renewed.output != added.output)

        let revoked = try await ChildProcess.tidemark(
            "user",
            "revoke",
            "alice",
            "--container",
            "iCloud.a",
            "--data",
            data
        )
        #expect(revoked.exitCode == 0)
        let table = try await ChildProcess.tidemark(
            "user",
            "list",
            "--container",
            "iCloud.a",
            "--data",
            data
        )
        #expect(table.output.contains(/alice +revoked +20/))
        let json = try await ChildProcess.tidemark(
            "user",
            "list",
            "--container",
            "iCloud.a",
            "--json",
            "--data",
            data
        )
        let rows = try #require(
            try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]]
        )
        #expect(rows.count == 1)
        #expect(rows.first?["name"] as? String == "alice")
        #expect(rows.first?["revoked"] as? Bool == true)
        #expect((rows.first?["userRecordName"] as? String)?.wholeMatch(of: /_[0-9a-f]{32}/) != nil)
    }

    @Test
    func `the token is nowhere in the data folder`() async throws {
        try await ServerProcess.makeStore(in: self.data)
        _ = try await ChildProcess.tidemark("container", "create", "iCloud.a", "--data", self.data)
        let added = try await ChildProcess.tidemark(
            "user",
            "add",
            "alice",
            "--container",
            "iCloud.a",
            "--data",
            self.data
        )
        let token = Data(added.output.dropLast().utf8)
        #expect(token.count == 47)
        var sawName = false
        for name in try FileManager.default.contentsOfDirectory(atPath: self.data)
        where !["tls", "assets"].contains(name) {
            let content = try #require(FileManager.default.contents(atPath: self.data + "/" + name))
            #expect(content.range(of: token) == nil, "\(name)")
            sawName = sawName || content.range(of: Data("alice".utf8)) != nil
        }
        #expect(sawName)
    }

    @Test(
        arguments: [
            "container create iCloud.a",
            "user add bob --container none", "user list --container none",
            "user revoke bob --container iCloud.a", "user renew bob --container iCloud.a",
            "user restrict bob --container iCloud.a",
        ]
    )
    func `wrong data is explained and ends with 65`(command: String) async throws {
        try await ServerProcess.makeStore(in: self.data)
        _ = try await ChildProcess.tidemark("container", "create", "iCloud.a", "--data", self.data)
        try await self.expectFailure(command, exitCode: 65)
    }

    @Test(
        arguments: [
            "user add bob", "nonsense", "serve --listen host:port", "serve --set in_flight_max",
            "serve --set in_flight_max=0", "serve --set no_such_setting=1", "serve --tls-cert a.pem",
            "serve --log-level loud", "serve --config /nonexistent",
        ]
    )
    func `wrong usage is explained and ends with 64`(command: String) async throws {
        try await self.expectFailure(command, exitCode: 64)
        #expect(!FileManager.default.fileExists(atPath: self.data))
    }

    private func expectFailure(_ command: String, exitCode: Int32) async throws {
        let child = try ChildProcess(
            ChildProcess.tidemark,
            command.split(separator: " ").map(String.init),
            environment: ["TIDEMARK_DATA": self.data]
        )
        let outcome = await child.outcome()
        #expect(outcome.exitCode == exitCode)
        #expect(outcome.output == "")
        #expect(outcome.errors.count > 20)
    }

    @Test
    func `the first start makes certificates and keeps everything to its owner`() async throws {
        let server = try await ServerUnderTest.start(data: self.data)
        #expect(server.authorityPath == self.data + "/tls/ca.pem")
        #expect(try self.permissions(self.data) == 0o700)
        #expect(try self.permissions(self.data + "/tls") == 0o700)
        #expect(try self.permissions(self.data + "/assets") == 0o700)
        for folder in [self.data, self.data + "/tls"] {
            for name in try FileManager.default.contentsOfDirectory(atPath: folder)
            where !["tls", "assets"].contains(name) {
                #expect(try self.permissions(folder + "/" + name) == 0o600, "\(name)")
            }
        }
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
    }

    @Test
    func `a second server on the same folder is refused, and told who has it`() async throws {
        let server = try await ServerUnderTest.start(data: self.data)
        let second = try await ChildProcess.tidemark(
            "serve",
            "--data",
            self.data,
            "--listen",
            "127.0.0.1:0"
        )
        #expect(second.exitCode == 69)
        #expect(second.errors.contains("process \(server.process.processID))"))
        server.process.signal(SIGKILL)
        _ = await server.process.outcome()
        // The lock goes with its process, however that ended.
        let third = try await ServerUnderTest.start(data: self.data)
        third.process.signal(SIGTERM)
        #expect(await third.process.outcome().exitCode == 0)
    }

    @Test
    func `a port that is taken is an error with its exit code`() async throws {
        let server = try await ServerUnderTest.start(data: self.data)
        let other = try await ChildProcess.tidemark(
            "serve",
            "--data",
            self.directory.path + "/other",
            "--listen",
            server.address
        )
        #expect(other.exitCode == 69)
        #expect(other.errors.contains("--listen HOST:PORT"))
        server.process.signal(SIGINT)
        #expect(await server.process.outcome().exitCode == 0)
    }
}
