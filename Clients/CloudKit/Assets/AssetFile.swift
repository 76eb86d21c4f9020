internal import FileIO
internal import Foundation
internal import RecordClient
internal import RecordModel
private import Synchronization
private import SystemCrypto

/// A user's file that is being saved, in the state in which it was first opened.
///
/// It is open only while it is read, because a record may have more files than a process may have
/// open.
final class AssetFile: Sendable {
    /// The attributes that reveal that a file was changed or replaced.
    private struct Stamp: Equatable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var modified: Int64
        var changed: Int64

        init(_ status: stat) {
            self.device = UInt64(status.st_dev)
            self.inode = UInt64(status.st_ino)
            self.size = Int64(status.st_size)
            self.modified = Self.nanoseconds(status.st_mtim)
            self.changed = Self.nanoseconds(status.st_ctim)
        }

        private static func nanoseconds(_ time: timespec) -> Int64 {
            Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        }
    }

    private static let hashStepBytes: Int64 = 8 * 1024 * 1024
    private static let hashPieceBytes = 256 * 1024

    private let path: String
    private let stamp: Stamp
    private let opened = Mutex<OpenFile?>(nil)

    /// Opens a file; for threads for files.
    init(_ url: URL) throws(FileFailure) {
        guard url.isFileURL else { throw .unusable("'\(url)' is not the URL of a file") }
        self.path = url.path
        let file: OpenFile
        do throws(FileError) {
            file = try OpenFile(path: self.path, .read)
        } catch {
            let isMissing = error.errno == ENOENT || error.errno == ENOTDIR
            let text = "The file '\(self.path)' of an asset can't be opened: \(error.reason)"
            throw isMissing ? .missing(text) : .unopened(text)
        }
        guard let status = try? file.status(), status.st_mode & S_IFMT == S_IFREG else {
            throw .unusable(
                "'\(self.path)' is not a regular file: it can't be an asset"
            )
        }
        self.stamp = Stamp(status)
        self.opened.withLock { $0 = file }
    }

    /// Bytes when the file was opened.
    var size: Int64 { self.stamp.size }

    /// Throws `modified` if the file has changed since it was first opened, or if another file has
    /// its name.
    func checkUnchanged() throws(FileFailure) {
        var status = stat()
        guard stat(self.path, &status) == 0, Stamp(status) == self.stamp else { throw self.modified }
    }

    /// Closes the file; a later read opens it again.
    func letGo() { self.opened.withLock { $0 = nil } }

    /// Throws `modified` if the file has changed since it was first opened.
    private func file() throws(FileFailure) -> OpenFile {
        try self.opened.withLock { opened throws(FileFailure) in
            if let opened { return opened }
            guard let file = try? OpenFile(path: self.path, .read), let status = try? file.status(),
                Stamp(status) == self.stamp
            else { throw self.modified }
            opened = file
            return file
        }
    }

    /// Fills the memory with the bytes from an offset on.
    func read(at offset: Int64, into memory: FileMemory) throws(FileFailure) {
        let file = try self.file()
        let count: Int
        do throws(FileError) {
            count = try file.read(into: memory, at: offset)
        } catch {
            throw .failed("Reading the file '\(self.path)' of an asset failed: \(error.reason)")
        }
        guard count == memory.count else { throw self.modified }
    }

    /// Returns the hash of all bytes, read in steps between which other files have their turn.
    ///
    /// The file is closed after that.
    ///
    /// - Throws: `CKError` if the file can't be read, or if the task is cancelled.
    func contents() async throws(CKError) -> Asset {
        defer { self.letGo() }
        var hasher = SHA256()
        var offset: Int64 = 0
        while offset < self.size {
            guard !Task.isCancelled else { throw .cancelled }
            let from = (hasher: hasher, offset: offset)
            do throws(FileFailure) {
                (hasher, offset) = try await FileThreads.shared.result { () throws(FileFailure) in
                    try self.hash(from.hasher, from: from.offset)
                }
            } catch {
                throw CKError(error)
            }
        }
        return Asset(sha256: hasher.value, size: self.size)
    }

    private func hash(_ hasher: SHA256, from start: Int64) throws(FileFailure) -> (SHA256, Int64) {
        var hasher = hasher
        var offset = start
        let end = min(self.size, start + Self.hashStepBytes)
        let memory = FileMemory.allocate(byteCount: Self.hashPieceBytes, alignment: 16)
        defer { memory.deallocate() }
        while offset < end {
            let count = Int(min(end - offset, Int64(memory.count)))
            let piece = FileMemory(rebasing: memory[..<count])
            try self.read(at: offset, into: piece)
            hasher.add(FileBytes(piece))
            offset += Int64(count)
        }
        return (hasher, offset)
    }

    private var modified: FileFailure {
        .modified("The file '\(self.path)' of an asset was changed while it was being saved")
    }
}
