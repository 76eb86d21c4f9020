import Foundation
import Synchronization

/// Room on the disk that a server holds for the time when the disk is full.
///
/// It is a file of the data folder that nobody reads. Deletes and administration need room before
/// they make any: the log grows with each change, and a delete leaves a tombstone. So the server
/// gives the file's room back when the disk is full, and takes it again when there is some. A
/// command that runs beside the server may give it back as well; only the server takes it. So what
/// is missing is looked up, and never remembered.
///
/// A file system that compresses, or that writes nothing in place, may promise room that it does not have.
final class DiskReserve: Sendable {
    /// How the file ended up after it was taken.
    enum Taken: Hashable {
        /// So many bytes are held.
        case bytes(Int64)
        /// The file cannot be kept here at all; the system's number of the error.
        case failed(errno: Int32)
    }

    let path: String
    /// 0: this process only gives back.
    private let bytesMax: Int64
    /// Whether the file system can have such a file, as far as is known.
    private let isPossible = Atomic<Bool>(true)

    /// Of a disk the reserve is at most this part.
    private static let partOfDisk: Int64 = 16
    private static let blockBytes: Int64 = 4_096
    /// Never behind a link, and without waiting for the other end of a pipe.
    private static let asItIs = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK

    init(_ configuration: SQLiteEngineConfiguration) {
        self.path = configuration.directory + "/" + StoreFile.reserveName
        self.bytesMax = configuration.reserveBytes
    }

    var isKept: Bool { self.bytesMax > 0 }

    /// What it should have, and has not; 0 if there is to be none, or can be none.
    var missingBytes: Int64 {
        guard self.isKept, self.isPossible.load(ordering: .relaxed) else { return 0 }
        return max(0, self.bytesWanted - self.bytes)
    }

    /// What it should have: less on a small disk.
    var bytesWanted: Int64 {
        guard let disk = DiskSpace(at: self.directory) else { return self.bytesMax }
        return Self.rounded(min(self.bytesMax, disk.bytes / Self.partOfDisk))
    }

    /// What it has now.
    var bytes: Int64 {
        guard let file = self.open(O_RDONLY) else { return 0 }
        defer { close(file) }
        return Self.size(of: file) ?? 0
    }

    /// What it could have if that much room is to be left.
    func takeable(leaving room: Int64) -> Int64 {
        let bytes = self.bytes
        let free = DiskSpace(at: self.directory)?.free ?? 0
        return min(self.bytesWanted, max(bytes, bytes + free - room))
    }

    private var directory: String { (self.path as NSString).deletingLastPathComponent }

    /// Makes the file as large as it should be, or as the disk permits if that much room is to be left.
    ///
    /// What it has it keeps.
    func take(leaving room: Int64) -> Taken {
        let wanted = self.bytesWanted
        guard let file = self.open(O_RDWR | O_CREAT) else { return self.refused(errno) }
        defer { close(file) }
        guard let bytes = Self.size(of: file) else { return self.refused(EINVAL) }
        if bytes > wanted { ftruncate(file, off_t(wanted)) }
        let kept = min(bytes, wanted)
        var more = Self.rounded(min(wanted - kept, (DiskSpace(at: self.directory)?.free ?? 0) - room))
        while kept + more > 0 {
            // Also what it has: a copy of the folder may have left holes.
            let code = posix_fallocate(file, 0, off_t(kept + more))
            if code == 0 { break }
            ftruncate(file, off_t(kept))
            guard Self.isShortage(code) else { return self.refused(code) }
            // A quota may leave less than the disk has.
            guard more > 0 else { break }
            more = Self.rounded(more / 2)
        }
        return .bytes(Self.size(of: file) ?? 0)
    }

    /// Leaves the room to others; how much that was.
    func giveBack() -> Int64 {
        guard let file = self.open(O_WRONLY) else { return 0 }
        defer { close(file) }
        guard let bytes = Self.size(of: file), bytes > 0, ftruncate(file, 0) == 0 else { return 0 }
        return bytes
    }

    /// Does something, and once more with the room of the reserve if it fails on a full disk.
    func lend<Value>(_ work: () throws(SQLiteEngineError) -> Value) throws(SQLiteEngineError) -> Value {
        do throws(SQLiteEngineError) {
            return try work()
        } catch {
            guard self.mayHelp(after: error), self.giveBack() > 0 else { throw error }
            return try work()
        }
    }

    /// SQLite says no more of a file that cannot be made than that.
    private func mayHelp(after error: SQLiteEngineError) -> Bool {
        switch error {
        case .diskFull: true
        case .cannotOpen: DiskSpace(at: self.directory).map { $0.free < Self.blockBytes * 16 } ?? false
        case .formatTooNew, .formatTooOld, .formatUnreleased, .isMissing, .isBeingPrepared, .isBackup,
            .isDamaged:
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

    /// `nil` if it is no file.
    private static func size(of file: Int32) -> Int64? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    private static func rounded(_ bytes: Int64) -> Int64 { max(0, bytes / self.blockBytes * self.blockBytes) }
}

/// What the disk of a folder has, and has left for us, in bytes.
struct DiskSpace {
    let bytes: Int64
    let free: Int64

    /// `nil` if the system does not tell.
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
