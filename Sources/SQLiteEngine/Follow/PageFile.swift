import Foundation
import StorageContract

/// An increment: the pages of a store that changed between two copies.
///
/// ```text
/// 16   "tidemark pages 1"
///  4   bytes of a page
///  4   pages of the store
///  4   pages of this file
///  4   number of the first page, from 1
///  …   numbers of the other pages, ascending
///  …   the pages, in this order
/// ```
///
/// Numbers are big-endian. The file's owner keeps a hash of the whole file to verify it.
struct PageFile {
    private static let magic = Array("tidemark pages 1".utf8)
    private static let headerBytes = 28
    /// SQLite's bounds.
    private static let pageBytesRange = 512...65_536
    private static let pagesMax: UInt32 = 0xFFFF_FFFE

    let pageBytes: Int
    let filePages: UInt32
    let numbers: [UInt32]

    // MARK: Writing

    /// Writes pages, requested in ascending order, durably.
    ///
    /// - Throws: `diskFull`, `failed`; then the file is removed.
    func write(to path: String, page: (UInt32) throws(StoreCopyError) -> [UInt8]) throws(StoreCopyError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .ofTarget(errno) }
        defer { close(descriptor) }
        do throws(StoreCopyError) {
            try self.write(to: descriptor, page: page)
        } catch {
            unlink(path)
            throw error
        }
    }

    private func write(
        to descriptor: Int32,
        page: (UInt32) throws(StoreCopyError) -> [UInt8]
    ) throws(StoreCopyError) {
        var held = Self.magic
        for number in [UInt32(self.pageBytes), self.filePages, UInt32(self.numbers.count)] + self.numbers {
            for shift: UInt32 in [24, 16, 8, 0] { held.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        for number in self.numbers {
            held += try page(number)
            guard held.count >= 1_024 * 1_024 else { continue }
            try Self.put(held, descriptor)
            held.removeAll(keepingCapacity: true)
        }
        try Self.put(held, descriptor)
        guard fsync(descriptor) == 0 else { throw .ofTarget(errno) }
    }

    private static func put(_ bytes: [UInt8], _ descriptor: Int32) throws(StoreCopyError) {
        var done = 0
        while done < bytes.count {
            // SAFETY: the bytes are used in the call only.
            let count = bytes.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done)
            }
            if count < 0 {
                guard errno == EINTR else { throw .ofTarget(errno) }
                continue
            }
            done += count
        }
    }

    // MARK: Applying

    /// Writes the pages of a file to their offsets in the copy of a store.
    ///
    /// - Throws: `isDamaged`, `diskFull`, `failed`.
    static func apply(_ path: String, to copy: String) throws(StoreCopyError) {
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw .failed(code: 0) }
        defer { close(source) }
        let target = open(copy, O_RDWR | O_CLOEXEC)
        guard target >= 0 else { throw .ofTarget(errno) }
        defer { close(target) }
        let file = try Self(reading: source)
        guard file.pageBytes == Int(DatabaseFile.pageBytes) else { throw .isDamaged(code: 0) }
        let identity = try PageSum.identity(ofFirstPage: Self.bytes(target, at: 0, file.pageBytes))
        var offset = Int64(Self.headerBytes + 4 * file.numbers.count)
        for number in file.numbers {
            var page = try Self.bytes(source, at: offset, file.pageBytes)
            if number == 1 { BackupMark.put(intoFirstPage: &page) }
            // Pages come from a log, which has no checksums of the file.
            PageSum.write(into: &page, number: number, identity: identity)
            try Self.put(page, target, at: Int64(number - 1) * Int64(file.pageBytes))
            offset += Int64(file.pageBytes)
        }
        guard ftruncate(target, off_t(file.filePages) * off_t(file.pageBytes)) == 0 else {
            throw .ofTarget(errno)
        }
    }

    private init(reading descriptor: Int32) throws(StoreCopyError) {
        let header = try Self.bytes(descriptor, at: 0, Self.headerBytes)
        guard Array(header[..<16]) == Self.magic else { throw .isDamaged(code: 0) }
        self.pageBytes = Int(Self.number(header[16..<20]))
        self.filePages = Self.number(header[20..<24])
        let count = Self.number(header[24..<28])
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .failed(code: 0) }
        // The size of the file bounds the allocation.
        guard Self.pageBytesRange.contains(self.pageBytes), self.pageBytes & (self.pageBytes - 1) == 0,
            (1...Self.pagesMax).contains(self.filePages),
            Int64(Self.headerBytes) + Int64(count) * Int64(4 + self.pageBytes) == Int64(status.st_size)
        else { throw .isDamaged(code: 0) }
        let numbers = try Self.bytes(descriptor, at: Int64(Self.headerBytes), 4 * Int(count))
        self.numbers = stride(from: 0, to: numbers.count, by: 4).map { Self.number(numbers[$0..<$0 + 4]) }
        guard self.numbers.first != 0, zip(self.numbers, self.numbers.dropFirst()).allSatisfy({ $0 < $1 })
        else { throw .isDamaged(code: 0) }
    }

    init(pageBytes: Int, filePages: UInt32, numbers: [UInt32]) {
        self.pageBytes = pageBytes
        self.filePages = filePages
        self.numbers = numbers
    }

    private static func put(_ bytes: [UInt8], _ descriptor: Int32, at offset: Int64) throws(StoreCopyError) {
        var done = 0
        while done < bytes.count {
            // SAFETY: the bytes are used in the call only.
            let count = bytes.withUnsafeBytes {
                pwrite(
                    descriptor,
                    $0.baseAddress.map { $0 + done },
                    bytes.count - done,
                    off_t(offset) + off_t(done)
                )
            }
            if count < 0 {
                guard errno == EINTR else { throw .ofTarget(errno) }
                continue
            }
            done += count
        }
    }

    private static func bytes(
        _ descriptor: Int32,
        at offset: Int64,
        _ count: Int
    ) throws(StoreCopyError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            // SAFETY: the bytes are used in the call only.
            let read = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + done }, count - done, off_t(offset) + off_t(done))
            }
            if read == 0 { throw .isDamaged(code: 0) }
            if read < 0 {
                guard errno == EINTR else { throw .failed(code: 0) }
                continue
            }
            done += read
        }
        return bytes
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension StoreCopyError {
    /// The error for a file that cannot be written.
    static func ofTarget(_ code: Int32) -> StoreCopyError {
        [ENOSPC, EDQUOT, EFBIG].contains(code) ? .diskFull : .failed(code: 0)
    }
}
