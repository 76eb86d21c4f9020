import AssetStore
import FileIO
import Foundation
import NIOCore
import RecordModel
import RecordStore
import TestSupport
import Testing

/// Reading, removing and verifying files.
struct AssetStoreTests {
    private func stored(_ contents: [UInt8], _ number: Int64, in files: AssetFiles) throws -> StoredAsset {
        let asset = AssetFiles.asset(contents)
        let upload = files.store.upload(AssetNumber(rawValue: number), of: asset)
        _ = try upload.recovered()
        _ = try upload.append(contents[...])
        #expect(try upload.finish() == .complete)
        return StoredAsset(number: AssetNumber(rawValue: number), asset: asset)
    }

    private func read(
        _ files: AssetFiles,
        _ number: Int64,
        _ ranges: (offset: Int64, count: Int)...
    ) async -> Result<[ByteBuffer], AssetStoreError> {
        let pieces = ranges.map {
            AssetStore.Piece(offset: $0.offset, count: $0.count, header: ByteBuffer(string: "head"))
        }
        return await withCheckedContinuation { continuation in
            files.store.read(
                [AssetStore.Reading(of: AssetNumber(rawValue: number), pieces, restBytes: 0)],
                into: { ByteBufferAllocator().buffer(capacity: $0) }
            ) { continuation.resume(returning: $0[0]) }
        }
    }

    @Test func `pieces are what was asked for, behind their headers`() async throws {
        let files = try AssetFiles()
        _ = try self.stored(Array(0..<200), 7, in: files)
        let pieces = try await self.read(files, 7, (10, 50), (150, 50)).get()
        let wanted = [Array(10..<60), Array(150..<200)].map { Array("head".utf8) + $0 }
        #expect(pieces.map { Array($0.readableBytesView) } == wanted)
        #expect(await self.read(files, 7, (0, 10), (190, 11)) == .failure(.missing))
        #expect(await self.read(files, 8, (0, 1)) == .failure(.missing))
        await files.store.shutdown()
    }

    @Test func `nothing is written where a link in the place of a file leads`() throws {
        let folder = try TemporaryDirectory()
        let (source, link) = (folder.path + "/source", folder.path + "/link")
        try Data("asset".utf8).write(to: URL(fileURLWithPath: source))
        let victim = folder.path + "/victim"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim)
        #expect(throws: FileCopy.Failure.target(.failed(errno: ELOOP))) {
            try FileCopy.copy(source, to: link, progress: { _ in })
        }
        #expect(!FileManager.default.fileExists(atPath: victim))
    }

    @Test func `of files that are read together one that is missing fails alone`() async throws {
        let files = try AssetFiles()
        _ = try self.stored(Array(0..<20), 7, in: files)
        _ = try self.stored(Array(20..<40), 9, in: files)
        let readings = [7, 8, 9].map { number in
            AssetStore.Reading(
                of: AssetNumber(rawValue: number),
                [AssetStore.Piece(offset: 5, count: 10, header: ByteBuffer())],
                restBytes: 5
            )
        }
        let read = await withCheckedContinuation { continuation in
            files.store.read(readings, into: { ByteBufferAllocator().buffer(capacity: $0) }) {
                continuation.resume(returning: $0)
            }
        }
        #expect(
            read == [
                .success([ByteBuffer(bytes: 5..<15)]), .failure(.missing),
                .success([ByteBuffer(bytes: 25..<35)]),
            ]
        )
        await files.store.shutdown()
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

    @Test func `what is removed is gone, and what was gone is no error`() async throws {
        let files = try AssetFiles()
        for number in [1, 2, 257] { _ = try self.stored([UInt8(number & 0xFF)], Int64(number), in: files) }
        let result = await withCheckedContinuation { continuation in
            files.store.remove([1, 2, 3].map { AssetNumber(rawValue: $0) }) {
                continuation.resume(returning: $0)
            }
        }
        try result.get()
        #expect(try files.names() == ["01/101"])
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

    @Test func `a lane of the store runs its jobs in order and with low priority`() async throws {
        let files = try AssetFiles()
        let lane = files.store.lane()
        let log = AssetFiles.Script()
        for number in 0..<500 {
            lane.submit { _ = log.next(.write(offset: Int64(number), bytes: 0)) }
        }
        let niceness = await withCheckedContinuation { continuation in
            lane.submit {
                continuation.resume(returning: getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0))
            }
        }
        #expect(niceness == 10)
        #expect(log.steps == (0..<500).map { .write(offset: Int64($0), bytes: 0) })
        await files.store.shutdown()
    }
}
