import AssetStorage
import AssetStore
import Foundation
import NIOCore
import RecordModel
import StorageContract
import Synchronization
import TestSupport
import Testing

/// Files of uploads: their rows, the page cache, damage, and a disk that fails at any step.
struct UploadFileTests {
    private static let number = AssetNumber(rawValue: 0x1F2A)

    @Test(arguments: [(kept: 200_000, isKept: true), (kept: 199_999, isKept: false)])
    func `a large asset leaves the kernel's memory as it becomes durable, a small one stays`(
        keptBytesMax: Int64,
        isKept: Bool
    ) throws {
        var generator = SeededGenerator(seed: 2)
        // Steps of whole pages.
        let files = try AssetFiles(chunkBytes: 2 * 64 * 1_024, keptBytesMax: keptBytesMax)
        let contents = AssetFiles.contents(200_000, using: &generator)
        let upload = files.store.uploadFile(Self.number, of: AssetFiles.asset(contents))
        #expect(try upload.recovered() == 0)
        let durable = try upload.append(contents[..<150_000])
        #expect(durable == 2 * 64 * 1_024)
        let resident = try ResidentPages.bytes(of: files.path(Self.number))
        #expect(resident == (isKept ? 150_000 : 150_000 - Int(durable)).roundedUpToPages)
        _ = try upload.append(contents[150_000...])
        #expect(try upload.finish() == .complete)
        #expect(
            try ResidentPages.bytes(of: files.path(Self.number)) == (isKept ? 200_000.roundedUpToPages : 0)
        )
        #expect(files.bytes(Self.number) == contents)
    }

    @Test func `bytes of a large asset that lie at pages never are in the kernel's memory`() throws {
        var generator = SeededGenerator(seed: 4)
        let files = try AssetFiles(chunkBytes: 2 * 64 * 1_024, keptBytesMax: 1)
        let contents = AssetFiles.contents(50 * 4_096, using: &generator)
        let upload = files.store.uploadFile(Self.number, of: AssetFiles.asset(contents))
        #expect(try upload.recovered() == 0)
        // One short of a step, so that nothing is synced, and one in which two end.
        _ = try upload.append([.atPage(contents[..<(15 * 4_096)])])
        #expect(try ResidentPages.bytes(of: files.path(Self.number)) == 0)
        let rest = [15..<17, 17..<40, 40..<50].map { pages in
            ByteBuffer.atPage(contents[pages.lowerBound * 4_096..<pages.upperBound * 4_096])
        }
        _ = try upload.append(rest)
        #expect(try ResidentPages.bytes(of: files.path(Self.number)) == 0)
        #expect(try upload.finish() == .complete)
        #expect(files.bytes(Self.number) == contents)
    }

    // Of a disk that has told the kernel to read megabytes ahead, much of the next step would be
    // there with the first.
    @Test(arguments: [(kept: 20 << 20, isKept: true), (kept: (20 << 20) - 1, isKept: false)])
    func `an earlier upload is read little ahead, and leaves the kernel's memory if it is large`(
        keptBytesMax: Int64,
        isKept: Bool
    ) throws {
        let files = try AssetFiles(keptBytesMax: keptBytesMax)
        let contents = [UInt8](repeating: 7, count: 20 << 20)
        let path = files.path(Self.number)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent,
            withIntermediateDirectories: true
        )
        try Data(contents).write(to: URL(fileURLWithPath: path))
        try ResidentPages.drop(path)
        let upload = files.store.uploadFile(Self.number, of: AssetFiles.asset(contents))
        #expect(try upload.recover() == nil)
        #expect(try ResidentPages.bytes(of: path) <= (isKept ? 8 << 20 : 0) + (512 << 10))
        #expect(try upload.recovered() == 20 << 20)
        #expect(try ResidentPages.bytes(of: path) == (isKept ? 20 << 20 : 0))
    }

    @Test func `rows are of multiples of half a chunk, wherever pieces end`() throws {
        var generator = SeededGenerator.fromEnvironment()
        print("UploadFileTests: SEED=\(generator.seed)")
        let contents = AssetFiles.contents(20_000, using: &generator)
        let files = try AssetFiles(bytesMin: 10_000)
        var offset = 0
        // From places that are no multiples, as after a second or the end of a connection.
        for _ in 0..<4 {
            let upload = files.store.uploadFile(Self.number, of: AssetFiles.asset(contents))
            #expect(try upload.recovered() == offset)
            let end = min(offset + 4_700, contents.count - 1)
            while offset < end {
                let count = min(Int.random(in: 1...2_500, using: &generator), end - offset)
                offset += count
                #expect(try upload.append(contents[offset - count..<offset]) == offset / 1_000 * 1_000)
            }
            upload.close()
            offset = offset / 1_000 * 1_000
        }
    }

    @Test func `whatever is cut off or spoilt behind the rows, no byte is lost that has an intact row`()
        throws
    {
        var generator = SeededGenerator.fromEnvironment()
        print("UploadFileTests: SEED=\(generator.seed)")
        let contents = AssetFiles.contents(5_000, using: &generator)
        let asset = AssetFiles.asset(contents)
        for round in 0..<200 {
            let files = try AssetFiles()
            let first = files.store.uploadFile(Self.number, of: asset)
            #expect(try first.recovered() == 0)
            _ = try first.append(contents[..<4_500])
            // Rows of steps of 1,000: 1,000, 2,000, 3,000 and 4,000.
            let rowCount = try Self.damage(files, round: round, using: &generator)
            let intact = min(rowCount.rows, rowCount.bytes / 1_000)
            let second = files.store.uploadFile(Self.number, of: asset)
            let offset = try second.recovered()
            #expect(offset == intact * 1_000, "round \(round)")
            _ = try second.append(contents[Int(offset)...])
            #expect(try second.finish() == .complete)
            #expect(files.bytes(Self.number) == contents)
        }
    }

    /// Spoils file and side file from some place on; answers how many rows and bytes are as they were.
    private static func damage(
        _ files: AssetFiles,
        round: Int,
        using generator: inout SeededGenerator
    ) throws -> (rows: Int, bytes: Int) {
        let bytes = round % 4 == 0 ? 1_000 * (round / 4 % 5) : Int.random(in: 0...4_500, using: &generator)
        let rowBytes = round % 4 == 1 ? 40 * (round / 4 % 5) : Int.random(in: 0...160, using: &generator)
        for (path, place) in [(files.path(number), bytes), (files.path(number) + ".chunks", rowBytes)] {
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            let end = try file.seekToEnd()
            if Bool.random(using: &generator) || place == Int(end) {
                try file.truncate(atOffset: UInt64(place))
            } else {
                try file.seek(toOffset: UInt64(place))
                let old = try #require(try file.readToEnd())
                try file.seek(toOffset: UInt64(place))
                try file.write(
                    contentsOf: Data(old.map { $0 ^ UInt8.random(in: 1...255, using: &generator) })
                )
            }
            try file.close()
        }
        return (rowBytes / 40, bytes)
    }

    @Test func `bytes come while those before them are made durable, and the row is of those before`() throws
    {
        var generator = SeededGenerator(seed: 2)
        let contents = AssetFiles.contents(5_000, using: &generator)
        let asset = AssetFiles.asset(contents)
        // While the first chunk is synced, bytes of the second come.
        let late = Mutex<(@Sendable () -> Void)?>(nil)
        let files = try AssetFiles { step in
            guard step == .sync, let append = late.withLock({ $0.take() }) else { return }
            append()
        }
        let upload = files.store.uploadFile(Self.number, of: asset)
        #expect(try upload.recovered() == 0)
        _ = try upload.append([ByteBuffer(bytes: contents[..<1_100])])
        late.withLock {
            $0 = { _ = try? upload.append([ByteBuffer(bytes: contents[1_100..<1_900])]) }
        }
        #expect(upload.wantsToBeDurable(isDue: false))
        #expect(try upload.makeDurable() == 1_000)
        #expect(!upload.wantsToBeDurable(isDue: false))
        #expect(upload.wantsToBeDurable(isDue: true))
        let second = files.store.uploadFile(Self.number, of: asset)
        #expect(try second.recovered() == 1_000)
        _ = try upload.append([ByteBuffer(bytes: contents[1_900...])])
        #expect(try upload.finish() == .complete)
        #expect(files.bytes(Self.number) == contents)
        // Too late: there is nothing to note any more.
        #expect(try upload.makeDurable() == 4_000)
        #expect(try files.names() == ["2a/1f2a"])
    }

    @Test func `a writer waits for the disk when a chunk is not durable`() throws {
        var generator = SeededGenerator(seed: 3)
        let contents = AssetFiles.contents(5_000, using: &generator)
        let files = try AssetFiles()
        let upload = files.store.uploadFile(Self.number, of: AssetFiles.asset(contents))
        #expect(try upload.recovered() == 0)
        #expect(try upload.append([ByteBuffer(bytes: contents[..<1_999])]) == 0)
        #expect(try upload.append([ByteBuffer(bytes: contents[1_999..<2_000])]) == 2_000)
        // In one piece too: at 4,000 it waits.
        #expect(try upload.append([ByteBuffer(bytes: contents[2_000..<4_900])]) == 4_000)
    }

    @Test func `a crash costs a chunk at the most, wherever it comes`() throws {
        var generator = SeededGenerator.fromEnvironment()
        print("UploadFileTests: SEED=\(generator.seed)")
        let contents = AssetFiles.contents(50_000, using: &generator)
        let files = try AssetFiles()
        var upload = files.store.uploadFile(Self.number, of: AssetFiles.asset(contents))
        var offset = Int(try upload.recovered())
        while offset < contents.count - 2_000 {
            let count = Int.random(in: 1...4_000, using: &generator)
            let end = min(offset + count, contents.count - 1)
            _ = try upload.append([ByteBuffer(bytes: contents[offset..<end])])
            if Int.random(in: 0..<4, using: &generator) == 0 {
                // What was durable at a second's end is no multiple of anything.
                try upload.makeDurable()
            }
            upload = files.store.uploadFile(Self.number, of: AssetFiles.asset(contents))
            let next = Int(try upload.recovered())
            #expect((end - 2_000...end).contains(next), "\(offset) ..< \(end): \(next)")
            offset = next
        }
    }

    @Test func `a disk that fails at any step costs an error, and the upload goes on later`() throws {
        var generator = SeededGenerator.fromEnvironment()
        print("UploadFileTests: SEED=\(generator.seed)")
        let contents = AssetFiles.contents(3_000, using: &generator)
        let asset = AssetFiles.asset(contents)
        var step = 0
        while true {
            let files = try AssetFiles()
            files.script.fail(step)
            var durable: Int64 = 0
            let first = files.store.uploadFile(Self.number, of: asset)
            do {
                #expect(try first.recovered() == 0)
                durable = try first.append(contents[...])
                #expect(try first.finish() == .complete)
                #expect(files.script.steps.count == step)
                break
            } catch let error as AssetStoreError {
                #expect(error == .full)
            }
            files.script.fail(nil)
            first.close()
            let second = files.store.uploadFile(Self.number, of: asset)
            let offset = try second.recovered()
            #expect(offset >= durable)
            _ = try second.append(contents[Int(offset)...])
            #expect(try second.finish() == .complete)
            #expect(files.bytes(Self.number) == contents)
            #expect(try files.names() == ["2a/1f2a"])
            step += 1
        }
        #expect(step > 15)
    }

    @Test func `a file that is longer than its asset is cut`() throws {
        let files = try AssetFiles()
        let asset = AssetFiles.asset([1, 2, 3])
        try FileManager.default.createDirectory(
            atPath: files.directory.path + "/assets/2a",
            withIntermediateDirectories: true
        )
        try Data([1, 2, 3, 4, 5]).write(to: URL(fileURLWithPath: files.path(Self.number)))
        let upload = files.store.uploadFile(Self.number, of: asset)
        #expect(try upload.recovered() == 3)
        #expect(try upload.finish() == .complete)
        #expect(files.bytes(Self.number) == [1, 2, 3])
    }
}

extension Int {
    fileprivate var roundedUpToPages: Int {
        let pageBytes = Int(sysconf(Int32(_SC_PAGESIZE)))
        return (self + pageBytes - 1) / pageBytes * pageBytes
    }
}

extension ByteBuffer {
    /// Bytes that begin at a page.
    fileprivate static func atPage(_ bytes: some Collection<UInt8>) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: bytes.count + 4_096)
        // SAFETY: the address is looked at, and nothing is read through it.
        let address = buffer.withUnsafeMutableWritableBytes { Int(bitPattern: $0.baseAddress) }
        let skipped = (4_096 - address % 4_096) % 4_096
        buffer.moveWriterIndex(forwardBy: skipped)
        buffer.moveReaderIndex(forwardBy: skipped)
        buffer.writeBytes(bytes)
        return buffer
    }
}
