import Foundation
import SystemCrypto

/// Copies files and hashes them, so that damage of a backup is found when it is made, and when it
/// is restored.
///
/// Every call blocks. Nothing is durable before `syncDisk`.
package enum FileCopy {
    package struct Outcome: Hashable, Sendable {
        package var bytes: Int64
        package var sha256: [UInt8]

        package init(bytes: Int64, sha256: [UInt8]) {
            self.bytes = bytes
            self.sha256 = sha256
        }
    }

    /// The one of the two files that could not be used.
    package enum Failure: Error, Hashable, Sendable {
        case source(FileError)
        case target(FileError)
    }

    private static let pieceBytes = 1_024 * 1_024

    /// Copies a file, or a range of its bytes, and replaces the content of the target.
    ///
    /// `progress` gets the number of bytes since the last call.
    package static func copy(
        _ source: String,
        _ range: Range<Int64>? = nil,
        to target: String,
        progress: (Int) -> Void
    ) throws(Failure) -> Outcome {
        let from = try Self.at(.source) { () throws(FileError) in try OpenFile(path: source, .read) }
        let into = try Self.at(.target) { () throws(FileError) in
            try OpenFile(path: target, .replace)
        }
        return try Self.read(from, range, progress: progress) { (piece, offset) throws(Failure) in
            // SAFETY: `read` keeps the bytes until this returns.
            try Self.at(.target) { () throws(FileError) in try into.write(piece, at: offset) }
        }
    }

    /// Reads a file to its end, and returns the result of a copy.
    package static func look(at path: String) throws(Failure) -> Outcome {
        let file = try Self.at(.source) { () throws(FileError) in try OpenFile(path: path, .read) }
        return try Self.read(file, nil, progress: { _ in }, take: { _, _ in })
    }

    /// Syncs the file system of a file or folder.
    package static func syncDisk(of path: String) throws(FileError) {
        let file = try OpenFile(path: path, .read)
        guard syncFileSystem(file.descriptor) == 0 else { throw .last }
    }

    /// Free bytes for this process on the file system of a file or folder.
    package static func room(at path: String) throws(FileError) -> Int64 {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw .last }
        let (room, isPlenty) = Int64(clamping: status.f_bavail)
            .multipliedReportingOverflow(by: Int64(clamping: status.f_frsize))
        return isPlenty ? .max : room
    }

    /// Passes the first bytes of a file in pieces, or all of them if it has fewer.
    ///
    /// An error that `take` throws is one of the target.
    ///
    /// - Returns: Number of bytes.
    package static func pass(
        _ file: OpenFile,
        max: Int64,
        take: (FileBytes) throws(FileError) -> Void
    ) throws(Failure) -> Int64 {
        try Self.pass(file, from: 0, max: max) { (piece, _) throws(Failure) in
            try Self.at(.target) { () throws(FileError) in try take(piece) }
        }
    }

    /// Passes the pieces of a file in order, and hashes them.
    private static func read(
        _ file: OpenFile,
        _ range: Range<Int64>?,
        progress: (Int) -> Void,
        take: (FileBytes, Int64) throws(Failure) -> Void
    ) throws(Failure) -> Outcome {
        var hash = SHA256()
        let start = range?.lowerBound ?? 0
        let max = range.map { $0.upperBound - start } ?? .max
        let bytes = try Self.pass(file, from: start, max: max) { (piece, offset) throws(Failure) in
            hash.add(piece)
            try take(piece, offset)
            progress(piece.count)
        }
        return Outcome(bytes: bytes, sha256: hash.value)
    }

    /// Passes pieces with their offsets from `start`.
    private static func pass(
        _ file: OpenFile,
        from start: Int64,
        max: Int64,
        take: (FileBytes, Int64) throws(Failure) -> Void
    ) throws(Failure) -> Int64 {
        // SAFETY: the buffer is used in this call only, within its bounds, and freed at its end.
        let buffer = FileMemory.allocate(byteCount: Self.pieceBytes, alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        let size = try Self.at(.source) { () throws(FileError) in try file.size() }
        var ahead = ReadAhead(file, start..<Swift.max(start, max < size - start ? start + max : size))
        while offset < max {
            ahead.willRead(at: start + offset)
            let wanted = Int(min(Int64(Self.pieceBytes), max - offset))
            let count = try Self.at(.source) { () throws(FileError) in
                try file.read(into: FileMemory(rebasing: buffer[..<wanted]), at: start + offset)
            }
            try take(FileBytes(rebasing: buffer[..<count]), offset)
            offset += Int64(count)
            guard count == wanted else { break }
        }
        return offset
    }

    private enum Side { case source, target }

    private static func at<Value>(
        _ side: Side,
        _ body: () throws(FileError) -> Value
    ) throws(Failure) -> Value {
        do throws(FileError) {
            return try body()
        } catch {
            throw side == .source ? .source(error) : .target(error)
        }
    }
}

/// Glibc hides this function from Swift behind a feature macro.
///
/// SAFETY: the declaration is that of `unistd.h`.
@_silgen_name("syncfs")
private func syncFileSystem(_ descriptor: Int32) -> Int32
