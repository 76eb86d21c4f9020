import AssetStorage
import AssetStore
import Foundation
import NIOCore
import RecordModel
import StorageContract
import TestSupport
import Testing

/// Two servers that have one folder of assets.
struct SharedFolderTests {
    private static let number = AssetNumber(rawValue: 0x1F2A)
    private static let contents: [UInt8] = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 * 31 >> 2) }

    private let directory: TemporaryDirectory
    private let stores: [AssetStore]

    init() throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        self.stores = try (0..<2).map { _ in
            var configuration = AssetStoreConfiguration(directory: directory.path + "/assets")
            configuration.isShared = true
            configuration.chunks.bytes = 2_000
            configuration.chunks.bytesMin = 1
            configuration.reserveBytes = { 0 }
            let store = AssetStore(configuration)
            try store.start()
            return store
        }
    }

    private func upload(_ server: Int, _ contents: [UInt8] = Self.contents) -> UploadFile {
        self.stores[server].uploadFile(Self.number, of: AssetFiles.asset(contents))
    }

    private var stored: [UInt8] {
        let path = self.directory.path + "/assets/" + self.stores[0].name(of: Self.number)
        return FileManager.default.contents(atPath: path).map(Array.init) ?? []
    }

    @Test func `an upload waits while another server has it, and goes on from the last synced part`() throws {
        let first = self.upload(0)
        #expect(try first.recovered() == 0)
        _ = try first.append(Self.contents[..<9_000])
        let second = self.upload(1)
        #expect(throws: AssetStoreError.busy) { try second.recovered() }
        // Nothing of it was cut off.
        _ = try first.append(Self.contents[9_000..<9_500])
        first.close()
        #expect(try second.recovered() == 9_500)
        let third = self.upload(0)
        #expect(throws: AssetStoreError.busy) { try third.recovered() }
        _ = try second.append(Self.contents[9_500...])
        #expect(try second.finish() == .complete)
        #expect(self.stored == Self.contents)
        // An upload that comes too late finds all of it, and writes nothing.
        #expect(try third.recovered() == Int64(Self.contents.count))
        #expect(try third.finish() == .complete)
        #expect(self.stored == Self.contents)
    }

    @Test func `a server that waited for an upload that was removed begins a new file`() throws {
        let first = self.upload(0)
        #expect(try first.recovered() == 0)
        _ = try first.append(Self.contents[..<9_000])
        first.discard()
        let second = self.upload(1)
        #expect(try second.recovered() == 0)
        _ = try second.append(Self.contents[...])
        #expect(try second.finish() == .complete)
        #expect(self.stored == Self.contents)
    }

    @Test func `bytes of another hash are removed before another server may begin`() throws {
        var other = Self.contents
        other[5] &+= 1
        let first = self.upload(0)
        #expect(try first.recovered() == 0)
        _ = try first.append(other[...])
        #expect(try first.finish() == .differs)
        let second = self.upload(1)
        #expect(try second.recovered() == 0)
        _ = try second.append(Self.contents[...])
        #expect(try second.finish() == .complete)
        #expect(self.stored == Self.contents)
    }

    @Test func `two servers that take turns at random leave whole files`() async throws {
        let contents = Self.contents
        let ended = try await withThrowingTaskGroup(of: Int.self) { group in
            for server in 0..<2 {
                group.addTask {
                    var generator = SystemRandomNumberGenerator()
                    var busy = 0
                    while true {
                        let upload = self.upload(server)
                        do {
                            let offset = Int(try upload.recovered())
                            let end = min(
                                offset + Int.random(in: 500...3_000, using: &generator),
                                contents.count
                            )
                            _ = try upload.append(contents[offset..<end])
                            if end == contents.count {
                                #expect(try upload.finish() == .complete)
                                return busy
                            }
                            upload.close()
                        } catch AssetStoreError.busy {
                            busy += 1
                        }
                        await Task.yield()
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(ended >= 0)
        #expect(self.stored == contents)
    }
}
