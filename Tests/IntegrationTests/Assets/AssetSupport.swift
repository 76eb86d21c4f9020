import CloudKit
import CloudKitTesting
import Foundation
import TestSupport
import Testing

/// Files for tests, in a folder that goes with this value.
struct SampleFiles {
    static let mebibyte = 1024 * 1024
    private static let blockBytes = 64 * 1024

    let folder: TemporaryDirectory

    init() throws { self.folder = try TemporaryDirectory() }

    func url(_ name: String) -> URL { URL(fileURLWithPath: self.folder.path + "/" + name) }

    /// Writes a file whose bytes depend on the seed.
    func make(_ name: String, bytes: Int, seed: UInt64 = 1) throws -> URL {
        var generator = SeededGenerator(seed: seed)
        var block = Data(capacity: Self.blockBytes)
        while block.count < Self.blockBytes {
            block.append(contentsOf: Self.bytes(of: generator.next()))
        }
        var contents = Data(capacity: bytes)
        while contents.count < bytes {
            block.replaceSubrange(0..<8, with: Self.bytes(of: UInt64(contents.count)))
            contents.append(block.prefix(bytes - contents.count))
        }
        let url = self.url(name)
        try contents.write(to: url)
        return url
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    func asset(_ name: String, bytes: Int, seed: UInt64 = 1) throws -> CKAsset {
        CKAsset(fileURL: try self.make(name, bytes: bytes, seed: seed))
    }
}

extension CKRecord {
    /// The bytes of an asset that was fetched.
    func file(_ key: String) throws -> Data {
        let url = try #require((self[key] as? CKAsset)?.fileURL)
        return try Data(contentsOf: url)
    }

    /// The bytes of a list of assets that was fetched.
    func files(_ key: String) throws -> [Data] {
        try #require(self[key] as? [CKAsset]).map { try Data(contentsOf: try #require($0.fileURL)) }
    }
}

extension Desk {
    /// The same database for another device of the user: with a cache, and over a connection, of its own.
    func device(_ name: String, through port: Int? = nil) async throws -> CKDatabase {
        var connection = try await self.server.connection(for: "alice")
        connection.cacheFolder = (connection.cacheFolder ?? "") + "-" + name
        if let port { connection.url = "tidemark://localhost:\(port)" }
        return CKContainer(identifier: TestServer.defaultContainerIdentifier, connection: connection)
            .privateCloudDatabase
    }
}
