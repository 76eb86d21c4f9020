import Foundation
import StorageContract

/// The log of a store, read beside the processes that write it.
///
/// ```text
/// header   32   magic, format, bytes of a page, number, two salts, sum of all that
/// frame    24   number of the page, pages of the file if this is a commit or 0, two salts, sum
///        4096   the page
/// frame  …
/// ```
///
/// Numbers have four bytes and are big-endian. The sum of a frame is that of the frame before it,
/// to which the first eight bytes and the page are added. A frame is valid if its salts are those
/// of the header and the sum is right, and the log ends before the first that is not. So frames
/// that are being written, or were left by an earlier beginning of the log, never count.
///
/// The file has no locks of SQLite, which a second descriptor would lose: they are on others.
///
/// - Source: SQLite, "The Write-Ahead Log File Format".
final class LogFile {
    static let headerBytes = 32
    static let frameHeaderBytes = 24

    private static let formatNumber: UInt32 = 3_007_000

    /// The beginning of a log.
    struct Header: Hashable {
        var salts: LogSalts
        var pageBytes: Int
        var isBigEndian: Bool
        var sum: LogSum
    }

    private let descriptor: Int32

    /// Opens the log of a file; `nil` if there is no log.
    init?(of path: String) throws(StoreCopyError) {
        self.descriptor = open(path + "-wal", O_RDONLY | O_CLOEXEC)
        guard self.descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .failed(code: 0)
        }
    }

    deinit { close(self.descriptor) }

    /// Returns when everything that was read is on disk, so that a loss of power takes nothing from
    /// the store that a copy has.
    func sync() throws(StoreCopyError) {
        guard fdatasync(self.descriptor) == 0 else { throw .failed(code: 0) }
    }

    /// `nil` if nothing was written yet, or a header is being written.
    func header() throws(StoreCopyError) -> Header? {
        var bytes = [UInt8](repeating: 0, count: Self.headerBytes)
        guard try self.read(&bytes, at: 0) else { return nil }
        let magic = Self.number(bytes, 0)
        guard magic & 0xFFFF_FFFE == 0x377F_0682, Self.number(bytes, 4) == Self.formatNumber else {
            return nil
        }
        var header = Header(
            salts: LogSalts(first: Self.number(bytes, 16), second: Self.number(bytes, 20)),
            pageBytes: Int(Self.number(bytes, 8)),
            isBigEndian: magic & 1 == 1,
            sum: LogSum()
        )
        // SAFETY: the bytes are used in the call only.
        bytes.withUnsafeBytes {
            header.sum.add(UnsafeRawBufferPointer(rebasing: $0[..<24]), isBigEndian: header.isBigEndian)
        }
        guard header.sum == LogSum(first: Self.number(bytes, 24), second: Self.number(bytes, 28)) else {
            return nil
        }
        return header
    }

    /// Whether the log still contains a position.
    func has(_ position: LogPosition) throws(StoreCopyError) -> Bool {
        guard let header = try self.header(), header.salts == position.salts, position.frames > 0 else {
            return false
        }
        var bytes = [UInt8](repeating: 0, count: Self.frameHeaderBytes)
        let offset = Self.offset(ofFrame: position.frames - 1, header)
        guard try self.read(&bytes, at: offset) else { return false }
        let frame = LogFrame(bytes: bytes)
        return frame.isOf(header) && frame.sum == position.sum && frame.endsCommit
    }

    /// Reads the commits after a position.
    func commits(after position: LogPosition, _ header: Header) throws(StoreCopyError) -> LogCommits {
        var commits = LogCommits(position: position)
        var open: [UInt32: Int64] = [:]
        var sum = position.sum
        var number = position.frames
        while let frame = try self.frame(number, header) {
            guard frame.isOf(header), frame.add(to: &sum, header) else { break }
            open[frame.pageNumber] = number
            number += 1
            guard frame.endsCommit else { continue }
            commits.frames.merge(open) { $1 }
            open.removeAll(keepingCapacity: true)
            commits.filePages = frame.filePages
            commits.position = LogPosition(salts: header.salts, frames: number, sum: sum)
        }
        return commits
    }

    /// Reads a frame, valid or not; `nil` if the log has fewer.
    func frame(_ number: Int64, _ header: Header) throws(StoreCopyError) -> LogFrame? {
        var bytes = [UInt8](repeating: 0, count: Self.frameHeaderBytes + header.pageBytes)
        return try self.read(&bytes, at: Self.offset(ofFrame: number, header)) ? LogFrame(bytes: bytes) : nil
    }

    /// The page of a committed frame.
    func page(ofFrame number: Int64, _ header: Header) throws(StoreCopyError) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: header.pageBytes)
        let offset = Self.offset(ofFrame: number, header) + Int64(Self.frameHeaderBytes)
        guard try self.read(&page, at: offset) else { throw .failed(code: 0) }
        return page
    }

    private static func offset(ofFrame number: Int64, _ header: Header) -> Int64 {
        Int64(self.headerBytes) + number * Int64(self.frameHeaderBytes + header.pageBytes)
    }

    /// Fills the bytes; `false` if the file is too short.
    private func read(_ bytes: inout [UInt8], at offset: Int64) throws(StoreCopyError) -> Bool {
        // SAFETY: the bytes are used in the call only.
        let isRead: Bool? = bytes.withUnsafeMutableBytes { buffer in
            var done = 0
            while let first = buffer.baseAddress, done < buffer.count {
                let count = pread(
                    self.descriptor,
                    first + done,
                    buffer.count - done,
                    off_t(offset) + off_t(done)
                )
                if count == 0 { return false }
                if count < 0 {
                    guard errno == EINTR else { return nil }
                    continue
                }
                done += count
            }
            return true
        }
        guard let isRead else { throw .failed(code: 0) }
        return isRead
    }

    fileprivate static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        BigEndian.number(bytes[offset..<offset + 4])
    }
}

/// A frame as it is in the file.
struct LogFrame {
    /// Its header and its page, or the header alone.
    let bytes: [UInt8]

    var pageNumber: UInt32 { LogFile.number(self.bytes, 0) }
    /// The size of the file after the commit that it ends; else 0.
    var filePages: UInt32 { LogFile.number(self.bytes, 4) }
    var endsCommit: Bool { self.filePages != 0 }
    var sum: LogSum {
        LogSum(first: LogFile.number(self.bytes, 16), second: LogFile.number(self.bytes, 20))
    }

    func isOf(_ header: LogFile.Header) -> Bool {
        LogFile.number(self.bytes, 8) == header.salts.first
            && LogFile.number(self.bytes, 12) == header.salts.second
    }

    /// Adds it to the sum of the frames before it; `false` if it has another one.
    func add(to sum: inout LogSum, _ header: LogFile.Header) -> Bool {
        // SAFETY: the bytes are used in the call only.
        self.bytes.withUnsafeBytes {
            sum.add(UnsafeRawBufferPointer(rebasing: $0[..<8]), isBigEndian: header.isBigEndian)
            sum.add(
                UnsafeRawBufferPointer(rebasing: $0[LogFile.frameHeaderBytes...]),
                isBigEndian: header.isBigEndian
            )
        }
        return sum == self.sum
    }
}

/// Consecutive commits of a log.
struct LogCommits {
    /// Position of the last commit.
    var position: LogPosition
    /// The last frame of each page.
    var frames: [UInt32: Int64] = [:]
    /// The size of the file after the last commit; 0 if there is none.
    var filePages: UInt32 = 0
}
