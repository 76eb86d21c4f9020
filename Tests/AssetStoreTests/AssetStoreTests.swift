import AssetStorage
import AssetStore
import FileIO
import Foundation
import NIOCore
import RecordModel
import StorageContract
import Synchronization
import TestSupport
import Testing

/// What of a folder other byte stores have not: paths, permissions, side files, verification.
struct AssetStoreTests {
    private func stored(_ contents: [UInt8], _ number: Int64, in files: AssetFiles) throws -> StoredAsset {
        let asset = AssetFiles.asset(contents)
        let upload = files.store.uploadFile(AssetNumber(rawValue: number), of: asset)
        _ = try upload.recovered()
        _ = try upload.append(contents[...])
        #expect(try upload.finish() == .complete)
        return StoredAsset(number: AssetNumber(rawValue: number), asset: asset)
    }

    @Test func `files are private to their owner`() async throws {
        let files = try AssetFiles()
        _ = try self.stored([1], 7, in: files)
        let permissions = try ["", "/07", "/07/7"].map { path in
            try FileManager.default.attributesOfItem(atPath: files.directory.path + "/assets" + path)[
                .posixPermissions
            ] as? Int
        }
        #expect(permissions == [0o700, 0o700, 0o600])
    }

    @Test func `what is removed leaves no side file`() async throws {
        let files = try AssetFiles()
        let contents = [UInt8](repeating: 3, count: 3_000)
        let upload = files.store.uploadFile(AssetNumber(rawValue: 1), of: AssetFiles.asset(contents))
        _ = try upload.recovered()
        _ = try upload.append(contents[..<2_500])
        upload.close()
        #expect(try files.names() == ["01/1", "01/1.chunks"])
        try await files.store.remove([AssetNumber(rawValue: 1)])
        #expect(try files.names() == [])
        await files.store.shutdown()
    }

    @Test func `a look at a file finds what became of it`() throws {
        let files = try AssetFiles()
        let contents = [UInt8](repeating: 3, count: 3_000_000)
        let stored = try self.stored(contents, 9, in: files)
        var counted = 0
        #expect(files.store.verify(stored) { counted += $0 } == .intact)
        #expect(counted == 3_000_000)
        var other = stored
        other.number = AssetNumber(rawValue: 10)
        #expect(files.store.verify(other) { _ in } == .missing)
        let file = try #require(FileHandle(forUpdatingAtPath: files.path(stored.number)))
        try file.seek(toOffset: 2_999_999)
        try file.write(contentsOf: Data([4]))
        #expect(files.store.verify(stored) { _ in } == .differs)
        try file.truncate(atOffset: 2_999_999)
        #expect(files.store.verify(stored) { _ in } == .wrongSize(2_999_999))
    }

    @Test func `files are written with low priority`() async throws {
        let niceness = Mutex<[Int32]>([])
        let files = try AssetFiles { step in
            guard case .write = step else { return }
            niceness.withLock { $0.append(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)) }
        }
        await files.store.add([1], AssetNumber(rawValue: 7))
        #expect(niceness.withLock { $0 } == [10])
        await files.store.shutdown()
    }

    @Test func `a side file without its file is listed, and other files are not`() async throws {
        let files = try AssetFiles()
        for number in [0x107, 0x20A] { _ = try self.stored([1], Int64(number), in: files) }
        for path in ["07/7.chunks", "07/107.chunks", "07/notes.txt", "0a/.chunks"] {
            let url = URL(fileURLWithPath: files.directory.path + "/assets/" + path)
            try Data().write(to: url)
        }
        #expect(try await files.store.numbers().map(\.rawValue) == [7, 0x107, 0x20A])
        let answer = await withCheckedContinuation { continuation in
            files.store.list(after: AssetPage.Cursor(text: "notes"), limit: 3) {
                continuation.resume(returning: $0)
            }
        }
        #expect(answer == .failure(.failed(code: EINVAL)))
        await files.store.shutdown()
    }
}
