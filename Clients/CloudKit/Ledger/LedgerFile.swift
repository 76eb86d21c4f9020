internal import Foundation

/// A ledger's file, locked for as long as this exists.
final class LedgerFile {
    private let path: String
    private let lock: FolderLock
    private var descriptor: Int32
    private(set) var size = 0
    /// The first bytes, which reveal that another process has replaced the file.
    private(set) var head: [UInt8] = []

    /// Opens the file; `nil` if none can be kept there.
    init?(_ path: String) {
        guard let lock = FolderLock(path + ".lock", isExclusive: true, waits: true) else { return nil }
        self.path = path
        self.lock = lock
        self.descriptor = -1
        guard self.look() else { return nil }
    }

    deinit { if self.descriptor >= 0 { close(self.descriptor) } }

    private func look() -> Bool {
        if self.descriptor >= 0 { close(self.descriptor) }
        self.descriptor = open(self.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        var status = stat()
        guard self.descriptor >= 0, fstat(self.descriptor, &status) == 0 else { return false }
        self.size = Int(status.st_size)
        self.head = self.bytes(count: LedgerBlock.headBytes)
        return true
    }

    /// Reads bytes from an offset on, as far as the file goes.
    func bytes(from offset: Int = 0, count: Int = .max) -> [UInt8] {
        let count = min(count, self.size - offset)
        let descriptor = self.descriptor
        // SAFETY: reads into the array's own memory, no further than its end.
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
            read = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
    }

    func cut(at offset: Int) {
        if ftruncate(self.descriptor, off_t(offset)) == 0 { self.size = offset }
    }

    /// - Returns: Whether all of it was written; if not, none is in the file.
    func append(_ bytes: [UInt8]) -> Bool {
        let start = self.size
        guard self.write(bytes, to: self.descriptor, at: start) else {
            self.cut(at: start)
            return false
        }
        self.size += bytes.count
        return true
    }

    /// Replaces the file, completely or not at all.
    ///
    /// - Returns: Whether it did.
    func replace(with bytes: [UInt8]) -> Bool {
        let path = self.path + ".new"
        let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return false }
        let isWritten = self.write(bytes, to: descriptor, at: 0) && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(path, self.path) == 0, self.look() else {
            unlink(path)
            return false
        }
        return true
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32, at offset: Int) -> Bool {
        // SAFETY: reads the array's own memory, no further than its end.
        bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) } == bytes.count
    }
}
