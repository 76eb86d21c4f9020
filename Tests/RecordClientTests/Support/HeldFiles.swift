import FileIO
import NIOCore
import RecordModel
import Synchronization
import WireProtocol

@testable import RecordClient

/// Threads for files that do nothing until they are told to: a slow disk.
final class HeldFiles: Sendable {
    private let jobs = Mutex<[@Sendable () -> Void]>([])

    var threads: FileThreads {
        FileThreads { job in self.jobs.withLock { $0.append(job) } }
    }

    var waiting: Int { self.jobs.withLock { $0.count } }

    /// Does what was asked for by now.
    func work() {
        let jobs = self.jobs.withLock { jobs in
            defer { jobs = [] }
            return jobs
        }
        for job in jobs { job() }
    }
}

extension FileThreads {
    /// No threads: a disk that takes no time.
    static let immediate = FileThreads { $0() }
}

/// Files in memory: what a transfer reads, and what it has written.
final class MemoryFiles: Sendable {
    private let contents: Mutex<[[UInt8]]>
    private let failure: Mutex<FileFailure?>
    private let told = Mutex<[Progress]>([])
    private let digest = Mutex<[Int: [UInt8]]>([:])

    init(_ contents: [[UInt8]], failure: FileFailure? = nil) {
        self.contents = Mutex(contents)
        self.failure = Mutex(failure)
    }

    var bytes: [[UInt8]] { self.contents.withLock { $0 } }
    /// What came to make a digest of, by part.
    var digested: [Int: [UInt8]] { self.digest.withLock { $0 } }
    var progress: [Progress] { self.told.withLock { $0 } }

    func upload(_ assets: [Asset]) -> AssetUpload {
        AssetUpload(scope: .private, assets: assets) { item, offset, memory throws(FileFailure) in
            if let failure = self.failure.withLock({ $0 }) { throw failure }
            let file = self.contents.withLock { $0[item] }
            memory.copyBytes(from: file[Int(offset)..<Int(offset) + memory.count])
        } progress: { progress in
            self.told.withLock { $0.append(progress) }
        }
    }

    func download(_ parts: [AssetDownload.Part]) -> AssetDownload {
        AssetDownload(scope: .private, record: .sample, parts: parts) {
            part,
            offset,
            memory throws(FileFailure) in
            if let failure = self.failure.withLock({ $0 }) { throw failure }
            let start = parts[part].range.lowerBound
            try self.contents.withLock { contents throws(FileFailure) in
                guard start + Int64(contents[part].count) == offset else { throw .failed("a gap") }
                for piece in memory { contents[part] += piece }
            }
        } digest: { part, memory in
            self.digest.withLock { $0[part, default: []] += memory }
        } progress: { progress in
            self.told.withLock { $0.append(progress) }
        }
    }
}

struct StartedTransfer {
    let handle: RequestHandle?
    let answer: Answer
    let files: MemoryFiles
    /// Releasing it releases the client.
    let server: ScriptedServer
}

extension RecordID {
    static let sample = RecordID(zone: .default, recordName: "record")
}

extension Asset {
    /// An asset whose hash nobody computes.
    static func sample(_ number: UInt8, size: Int) -> Asset {
        Asset(sha256: Array(repeating: number, count: 32), size: Int64(size))
    }
}

extension [UInt8] {
    static func sample(_ count: Int, from first: Int = 0) -> [UInt8] {
        (first..<first + count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 251) }
    }
}

extension ScriptedConnection {
    func offsets(_ offsets: Int64..., on stream: UInt32) throws {
        try self.send(.assetOffsets, stream: stream, AssetOffsets(offsets: offsets).encoded())
    }

    func credit(_ bytes: UInt32, on stream: UInt32) throws {
        try self.send(.credit, stream: stream, Credit(bytes: bytes).encoded())
    }

    func progress(_ done: Int, of total: Int, on stream: UInt32) throws {
        let progress = Progress(doneBytes: Int64(done), totalBytes: Int64(total))
        try self.send(.progress, stream: stream, progress.encoded())
    }

    func data(_ bytes: [UInt8], item: UInt32 = 0, at offset: Int64, on stream: UInt32) throws {
        let data = AssetData(item: item, offset: offset, bytes: ByteBuffer(bytes: bytes))
        try self.send(.assetData, stream: stream, data.encoded())
    }

    /// The asset bytes that came since the last call; nothing else may have come.
    func assetData() throws -> [AssetData] {
        try self.frames().map { frame in
            guard frame.kind == .assetData else { throw WireError(.malformed, field: "kind") }
            return try AssetData(decoding: frame.payload)
        }
    }
}
