import CloudKit
import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

/// Two servers of one database as processes, with one certificate and one folder of assets, and a user.
final class ServerPair {
    static let container = "iCloud.pair"

    let first: ServerProcess
    let second: ServerProcess
    let database: String
    let files: SampleFiles
    private var token = ""

    static func run(_ body: (ServerPair) async throws -> Void) async throws {
        let pair = try ServerPair()
        try await pair.first.start()
        try await pair.first.administer(["container", "create", Self.container])
        pair.token = try await pair.first.administer(["user", "add", "alice"] + pair.place)
        try pair.prepareSecond()
        try await pair.second.start()
        try await body(pair)
        for server in [pair.first, pair.second] {
            #expect(await server.end(SIGTERM) == 0, "\(server.log())")
        }
    }

    private init() throws {
        let cluster = try PostgreSQLCluster.running()
        self.database = try cluster.emptyDatabase()
        let settings = [
            "--engine", "postgres", "--database-url", cluster.url(database: self.database),
            "--database-sync", "off",
        ]
        self.first = try ServerProcess(settings: settings)
        self.second = try ServerProcess(settings: settings)
        self.files = try SampleFiles()
    }

    var place: [String] { ["--container", Self.container] }

    /// As the guide says: the same certificate, and a link to the folder of assets.
    private func prepareSecond() throws {
        let manager = FileManager.default
        try manager.createDirectory(
            atPath: self.second.dataPath,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try manager.copyItem(atPath: self.first.dataPath + "/tls", toPath: self.second.dataPath + "/tls")
        try manager.createSymbolicLink(
            atPath: self.second.dataPath + "/assets",
            withDestinationPath: self.first.dataPath + "/assets"
        )
    }

    /// The private database for a device of the user, with a cache of its own.
    func device(_ name: String, port: Int) throws -> CKDatabase {
        var connection = CKServerConnection(
            url: "tidemark://localhost:\(port)",
            token: self.token,
            certificateAuthority: .pem(try String(contentsOfFile: self.first.authorityPath, encoding: .utf8))
        )
        connection.cacheFolder = self.files.url("cache-" + name).path
        return CKContainer(identifier: Self.container, connection: connection).privateCloudDatabase
    }

    func record(_ name: String, _ fields: [String: any CKRecordValueProtocol] = [:]) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
        for (key, value) in fields { record[key] = value }
        return record
    }

    /// Saves a record as an app does: again, for as long as the server asks for that.
    static func save(_ record: CKRecord, in database: CKDatabase) async throws {
        var isLost = false
        while true {
            do {
                try await database.save(record)
                return
            } catch let error as CKError where error.retryAfterSeconds != nil {
                try await Task.sleep(for: .milliseconds(50))
            } catch let error as CKError where error.code == .serverResponseLost {
                // The request took longer than its time. If the save is there, the next one is a conflict.
                isLost = true
            } catch let error as CKError where isLost && error.code == .serverRecordChanged {
                return
            }
        }
    }
}
