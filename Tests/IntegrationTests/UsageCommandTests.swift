import CloudKit
import Foundation
import TestSupport
import Testing

/// `tidemark usage`, and quotas, beside the server that serves the same folder.
@Suite(.timeLimit(.minutes(10)))
struct UsageCommandTests {
    private static let container = "iCloud.a"

    private struct Container: Decodable {
        struct Amount: Decodable, Equatable {
            let records: Int
            let recordBytes: Int
            let assets: Int
            let rowBytes: Int
            let bytes: Int
        }

        struct Database: Decodable {
            let environment: String
            let user: String?
            let stored: Amount
        }

        struct User: Decodable, Equatable {
            let name: String
            let bytes: Int
            let quota: Int?
        }

        let container: String
        let stored: Amount
        let quota: Int?
        let databases: [Database]
        let users: [User]
    }

    @Test
    func `what is stored is shown with its quota while the server runs, and what is beyond it refused`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let data = folder.path + "/data"
        let quotas = ["--set", "user_bytes_max=12000", "--set", "container_bytes_max=15000"]
        let server = try await ServerUnderTest.start(data: data, quotas[0], quotas[1], quotas[2], quotas[3])
        defer { server.process.signal(SIGKILL) }
        let token = try await ServerUnderTest.addUser(container: Self.container, data: data)
        let connection = CKServerConnection(
            url: "tidemark://\(server.address)",
            token: token,
            certificateAuthority: .file(server.authorityPath)
        )
        let database = CKContainer(identifier: Self.container, connection: connection).privateCloudDatabase
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "note"))
        note["data"] = Data(count: 8_000)
        _ = try await database.save(note)
        let second = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "second"))
        second["data"] = Data(count: 5_000)
        let refusal = await #expect(throws: CKError.self) { try await database.save(second) }
        #expect(refusal?.code == .quotaExceeded)

        let printed = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["usage", "--json", "--data", data]
        )
        #expect(printed.exitCode == 0, "\(printed.errors)")
        let containers = try JSONDecoder().decode([Container].self, from: Data(printed.output.utf8))
        let found = try #require(containers.first)
        let own = try #require(found.databases.first { $0.user == "test" })
        #expect(containers.count == 1)
        #expect(own.environment == "development")
        #expect(own.stored.records == 2)
        #expect((8_000..<8_100).contains(own.stored.recordBytes))
        #expect((100..<3_000).contains(own.stored.rowBytes))
        #expect(own.stored.bytes == own.stored.recordBytes + own.stored.rowBytes)
        #expect(found.users == [Container.User(name: "test", bytes: own.stored.bytes, quota: 12_000)])
        #expect(found.stored.recordBytes == own.stored.recordBytes)
        #expect(found.stored.records == 3)
        #expect(found.quota == 15_000)

        let file = folder.path + "/third.json"
        let bytes = Data(count: 6_000).base64EncodedString()
        let third =
            #"{"recordName":"third","recordType":"Note","fields":{"data":{"value":"\#(bytes)","type":"BYTES"}}}"#
        try third.write(toFile: file, atomically: true, encoding: .utf8)
        let save = [
            "records", "save", "--data", data, "--container", Self.container, "--as", "test", "--file", file,
        ]
        let refused = try await ChildProcess.run(ChildProcess.tidemark, save)
        #expect(refused.exitCode == 65)
        #expect(refused.errors.contains("the user may store 12000 bytes"), "\(refused.errors)")

        let table = try await ChildProcess.tidemark(
            "usage",
            "--container",
            Self.container,
            "--data",
            data,
            environment: ["TIDEMARK_USER_BYTES_MAX": "9700"]
        )
        #expect(table.output.contains("\(own.stored.bytes) of 9700"), "\(table.output)")
        #expect(table.output.hasPrefix("CONTAINER  DATABASE"))
        let missing = try await ChildProcess.tidemark("usage", "--container", "none", "--data", data)
        #expect(missing.exitCode == 65)
        #expect(missing.errors.contains("there is no container none"))
    }

    @Test
    func `what usage says of many files is within a factor of two of what the folder takes`() async throws {
        let folder = try TemporaryDirectory()
        let data = folder.path + "/data"
        let server = try await ServerUnderTest.start(data: data)
        defer { server.process.signal(SIGKILL) }
        let token = try await ServerUnderTest.addUser(container: Self.container, data: data)
        let connection = CKServerConnection(
            url: "tidemark://\(server.address)",
            token: token,
            certificateAuthority: .file(server.authorityPath)
        )
        let database = CKContainer(identifier: Self.container, connection: connection).privateCloudDatabase
        let before = (try await Self.counted(data), try await Self.taken(data))
        let files = try SampleFiles()
        for number in 0..<12 {
            let record = CKRecord(recordType: "Album", recordID: CKRecord.ID(recordName: "album\(number)"))
            record["files"] = try (0..<10).map { file in
                let seed = number * 10 + file
                return try files.asset("f\(seed)", bytes: 1 + seed * 97 % 12_000, seed: UInt64(seed))
            }
            _ = try await database.save(record)
        }
        let counted = Double(try await Self.counted(data) - before.0)
        let taken = Double(try await Self.taken(data) - before.1)
        #expect(taken > 700_000)
        #expect((0.5...2).contains(counted / taken), "\(counted) bytes are counted, and \(taken) taken")
    }

    private static func counted(_ data: String) async throws -> Int {
        let printed = try await ChildProcess.tidemark("usage", "--json", "--data", data)
        return try JSONDecoder().decode([Container].self, from: Data(printed.output.utf8))[0].stored.bytes
    }

    /// What the disk has of files and their folders, and pages of the database that are in use.
    private static func taken(_ data: String) async throws -> Int {
        let script = """
            import os, sqlite3, sys
            pages = sqlite3.connect(sys.argv[1] + "/tidemark.sqlite").execute(
                "SELECT (page_count - freelist_count) * page_size "
                "FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()")
            paths = [os.path.join(at, name) for at, folders, files in os.walk(sys.argv[1] + "/assets")
                for name in folders + files]
            print(pages.fetchone()[0] + sum(os.stat(path).st_blocks * 512 for path in paths))
            """
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            ["-c", script, data]
        )
        return try #require(Int(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)), "\(outcome)")
    }
}
