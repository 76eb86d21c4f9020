import Foundation
import Synchronization

/// Disk space that a server reserves for the time when the disk is full.
///
/// It is an unused file in the data folder. Deletes and administration need space before they free
/// any: the log grows with each change, and a delete leaves a tombstone. So the server releases the
/// file's space when the disk is full, and takes it again when there is some. A command that runs
/// beside the server may release it as well; only the server takes it. So the missing amount is
/// measured, never remembered.
///
/// A file system that compresses, or that never writes in place, may promise space that it does not
/// have.
final class DiskReserve: Sendable {
    /// The result of taking the reserve.
    enum Taken: Hashable {
        /// The number of bytes held.
        case bytes(Int64)
        /// The file system cannot hold the file at all; the system's error number.
        case failed(errno: Int32)
    }

    let path: String
    /// 0 if this process only releases the reserve.
    private let bytesMax: Int64
    /// Whether the file system supports such a file, as far as is known.
    private let isPossible = Atomic<Bool>(true)

    /// The reserve is at most this fraction of the disk.
    private static let partOfDisk: Int64 = 16
    private static let blockBytes: Int64 = 4_096
    /// Follows no link, and does not wait for the other end of a pipe.
    private static let asItIs = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK

    init(_ configuration: SQLiteEngineConfiguration) {
        self.path = configuration.directory + "/" + StoreFile.reserveName
        self.bytesMax = configuration.reserveBytes
    }

    var isKept: Bool { self.bytesMax > 0 }

    /// Bytes that the reserve lacks; 0 if it is disabled or not possible.
    var missingBytes: Int64 {
        guard self.isKept, self.isPossible.load(ordering: .relaxed) else { return 0 }
        return max(0, self.bytesWanted - self.bytes)
    }

    /// The intended size: less on a small disk.
    var bytesWanted: Int64 {
        guard let disk = DiskSpace(at: self.directory) else { return self.bytesMax }
        return Self.rounded(min(self.bytesMax, disk.bytes / Self.partOfDisk))
    }

    /// The current size.
    var bytes: Int64 {
        guard let file = self.open(O_RDONLY) else { return 0 }
        defer { close(file) }
        return Self.size(of: file) ?? 0
    }

    /// The possible size if `room` bytes are to remain free.
    func takeable(leaving room: Int64) -> Int64 {
        let bytes = self.bytes
        let free = DiskSpace(at: self.directory)?.free ?? 0
        return min(self.bytesWanted, max(bytes, bytes + free - room))
    }

    private var directory: String { (self.path as NSString).deletingLastPathComponent }

    /// Grows the file to its intended size, or as far as the disk permits with `room` bytes free.
    ///
    /// The current size is never reduced.
    func take(leaving room: Int64) -> Taken {
        let wanted = self.bytesWanted
        guard let file = self.open(O_RDWR | O_CREAT) else { return self.refused(errno) }
        defer { close(file) }
        guard let bytes = Self.size(of: file) else { return self.refused(EINVAL) }
        if bytes > wanted { ftruncate(file, off_t(wanted)) }
        let kept = min(bytes, wanted)
        var more = Self.rounded(min(wanted - kept, (DiskSpace(at: self.directory)?.free ?? 0) - room))
        while kept + more > 0 {
            // Includes the current size: a copy of the folder may have left holes.
            let code = posix_fallocate(file, 0, off_t(kept + more))
            if code == 0 { break }
            ftruncate(file, off_t(kept))
            guard Self.isShortage(code) else { return self.refused(code) }
            // A quota may allow less than the disk has.
            guard more > 0 else { break }
            more = Self.rounded(more / 2)
        }
        return .bytes(Self.size(of: file) ?? 0)
    }

    /// Releases the reserve; returns its size.
    func giveBack() -> Int64 {
        guard let file = self.open(O_WRONLY) else { return 0 }
        defer { close(file) }
        guard let bytes = Self.size(of: file), bytes > 0, ftruncate(file, 0) == 0 else { return 0 }
        return bytes
    }

    /// Does the work, and retries with the reserve's space if it fails on a full disk.
    func lend<Value>(_ work: () throws(SQLiteEngineError) -> Value) throws(SQLiteEngineError) -> Value {
        do throws(SQLiteEngineError) {
            return try work()
        } catch {
            guard self.mayHelp(after: error), self.giveBack() > 0 else { throw error }
            return try work()
        }
    }

    /// SQLite reports only this code for a file that it cannot create.
    private func mayHelp(after error: SQLiteEngineError) -> Bool {
        switch error {
        case .diskFull: true
        case .cannotOpen: DiskSpace(at: self.directory).map { $0.free < Self.blockBytes * 16 } ?? false
        case .formatTooNew, .formatTooOld, .formatUnreleased, .isMissing, .isBeingPrepared, .isBackup,
            .isDamaged, .savesMissing:
            false
        }
    }

    private func refused(_ errno: Int32) -> Taken {
        guard !Self.isShortage(errno) else { return .bytes(0) }
        self.isPossible.store(false, ordering: .relaxed)
        return .failed(errno: errno)
    }

    private static func isShortage(_ errno: Int32) -> Bool { [ENOSPC, EDQUOT, EFBIG].contains(errno) }

    private func open(_ flags: Int32) -> Int32? {
        let file = Glibc.open(self.path, flags | Self.asItIs, 0o600)
        return file >= 0 ? file : nil
    }

    /// `nil` if it is not a regular file.
    private static func size(of file: Int32) -> Int64? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    private static func rounded(_ bytes: Int64) -> Int64 { max(0, bytes / self.blockBytes * self.blockBytes) }
}

/// The size of a folder's disk, and the space available to us, in bytes.
struct DiskSpace {
    let bytes: Int64
    let free: Int64

    /// `nil` if the system does not report it.
    init?(at path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let unit = Int64(clamping: status.f_frsize)
        self.bytes = Self.product(Int64(clamping: status.f_blocks), unit)
        self.free = Self.product(Int64(clamping: status.f_bavail), unit)
    }

    private static func product(_ count: Int64, _ unit: Int64) -> Int64 {
        let (product, isPlenty) = count.multipliedReportingOverflow(by: unit)
        return isPlenty ? .max : product
    }
}
