private import Crypto
internal import Foundation
internal import RecordClient
internal import RecordModel
private import Synchronization

/// A file of the cache that is not complete: it grows at its end, and its bytes are hashed as they come.
///
/// Locked for as long as it is open, so that no other download and no other process writes to it.
final class PartialAsset: Sendable {
    private struct Contents {
        var length: Int64 = 0
        var behind: WriteBehind

        init(of asset: Asset) {
            self.behind = WriteBehind(fileBytes: asset.size)
        }
    }

    private static let stepBytes: Int64 = 8 * 1024 * 1024
    private static let pieceBytes = 256 * 1024

    let asset: Asset
    let path: String
    private let descriptor: Int32
    private let contents: Mutex<Contents>
    /// Of what was recovered, and of what has come since; locked after `contents`.
    private let hasher = Mutex(SHA256())

    /// Opens the file, or makes it; on a thread for files.
    ///
    /// - Returns: `nil` when somebody else is at it.
    init?(_ asset: Asset, path: String) throws(FileFailure) {
        self.asset = asset
        self.path = path
        self.contents = Mutex(Contents(of: asset))
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw Self.failed(path) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                close(descriptor)
                return nil
            }
            var ofOpen = stat()
            var ofName = stat()
            let isNamed = fstat(descriptor, &ofOpen) == 0 && stat(path, &ofName) == 0
            if isNamed, ofOpen.st_ino == ofName.st_ino, ofOpen.st_dev == ofName.st_dev {
                self.descriptor = descriptor
                return
            }
            // Whoever had the lock before has completed the file, or removed it.
            close(descriptor)
        }
    }

    deinit { close(self.descriptor) }

    /// How many bytes are there.
    var length: Int64 { self.contents.withLock { $0.length } }

    /// Hashes what an earlier download has left; more than there may be is cut off.
    func recover() async throws(CKError) {
        var isThrough = false
        while !isThrough {
            guard !Task.isCancelled else { throw .cancelled }
            do throws(FileFailure) {
                isThrough = try await FileThreads.shared.result { () throws(FileFailure) in
                    try self.recoverStep()
                }
            } catch {
                throw CKError(error)
            }
        }
    }

    /// - Returns: Whether all is hashed that there is.
    private func recoverStep() throws(FileFailure) -> Bool {
        var status = stat()
        guard fstat(self.descriptor, &status) == 0 else { throw Self.failed(self.path) }
        if Int64(status.st_size) > self.asset.size {
            try self.clear()
            return true
        }
        return try self.contents.withLock { contents throws(FileFailure) in
            let end = min(Int64(status.st_size), contents.length + Self.stepBytes)
            let memory = FileMemory.allocate(byteCount: Self.pieceBytes, alignment: 16)
            defer { memory.deallocate() }
            while contents.length < end {
                let wanted = Int(min(end - contents.length, Int64(memory.count)))
                let count = pread(self.descriptor, memory.baseAddress, wanted, off_t(contents.length))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Self.failed(self.path) }
                self.hash(FileBytes(rebasing: memory[..<count]))
                contents.length += Int64(count)
            }
            return contents.length == Int64(status.st_size)
        }
    }

    /// Adds bytes at the end; `hash` gets them as well.
    func write(_ bytes: FileBytes, at offset: Int64) throws(FileFailure) {
        try self.contents.withLock { contents throws(FileFailure) in
            guard offset == contents.length else { throw .failed("\(self.path) has a gap at \(offset)") }
            var done = 0
            while done < bytes.count {
                let count = pwrite(
                    self.descriptor,
                    bytes.baseAddress.map { $0 + done },
                    bytes.count - done,
                    off_t(offset) + off_t(done)
                )
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Self.failed(self.path) }
                done += count
            }
            contents.length += Int64(bytes.count)
            contents.behind.wrote(to: contents.length, of: self.descriptor)
        }
    }

    /// Bytes that come next, in order; while others are written.
    func hash(_ bytes: FileBytes) { self.hasher.withLock { $0.update(bufferPointer: bytes) } }

    /// Whether the file is the asset; when all bytes are written and hashed.
    var isAsset: Bool {
        self.length == self.asset.size
            && self.hasher.withLock { Array($0.finalize()) == self.asset.sha256 }
    }

    /// Begins anew.
    func clear() throws(FileFailure) {
        guard ftruncate(self.descriptor, 0) == 0 else { throw Self.failed(self.path) }
        self.contents.withLock { contents in
            contents = Contents(of: self.asset)
            self.hasher.withLock { $0 = SHA256() }
        }
    }

    /// Gives the complete file its place; others only read it from then on.
    func complete(at place: String) throws(FileFailure) {
        guard fchmod(self.descriptor, 0o400) == 0, rename(self.path, place) == 0 else {
            throw Self.failed(place)
        }
    }

    static func failed(_ path: String) -> FileFailure {
        .failed("The cache of assets can't be written, at '\(path)': \(AssetFile.reason())")
    }
}
