package import FileIO
import Foundation
package import RecordJSON
import Synchronization

/// A file that a command reads more than once.
///
/// Standard input, and whatever else cannot be read twice, is copied into a file without a name, as far as
/// the command reads. So one that refuses the beginning copies no more than that. The kernel removes the
/// file with the process, however that ends.
package final class InputFile: Sendable {
    private static let pieceBytes = 1 << 20
    private static let textPieceBytes = 256 * 1_024

    /// For messages.
    package let name: String
    /// The file, or its copy.
    private let file: OpenFile
    private let folder: String
    private let reserveBytes: Int64
    /// `nil` if the file itself can be read twice.
    private let copying: Mutex<Copying?>

    private struct Copying {
        let source: OpenFile
        var bytes: Int64 = 0
        var isComplete = false
    }

    /// - Parameters:
    ///   - path: Standard input if `nil` or `-`.
    ///   - name: For messages; `nil` for the path.
    ///   - folder: The data folder, for the copy.
    ///   - reserveBytes: What the copy leaves free on its disk.
    /// - Throws: `cannotOpen`, `cannotCopy`.
    package init(
        path: String?,
        name: String? = nil,
        folder: String,
        reserveBytes: Int
    ) throws(InputFileError) {
        let path = path.flatMap { $0 == "-" ? nil : $0 }
        self.name = name ?? path ?? "standard input"
        self.folder = folder
        self.reserveBytes = Int64(reserveBytes)
        let source: OpenFile
        do throws(FileError) {
            source = try OpenFile(waitingFor: path)
            if try source.isRegular(), path != nil || lseek(source.descriptor, 0, SEEK_CUR) == 0 {
                self.file = source
                self.copying = Mutex(nil)
                return
            }
        } catch {
            throw InputFileError(self.name, .cannotOpen(error))
        }
        do throws(FileError) {
            let copy = folder + "/import-\(getpid()).unfinished"
            self.file = try OpenFile(path: copy, .replace)
            unlink(copy)
        } catch {
            throw InputFileError(self.name, .cannotCopy(folder: folder, error))
        }
        self.copying = Mutex(Copying(source: source))
    }

    /// A path under which the file can be opened again.
    ///
    /// For a copy, the file has the bytes that were read so far.
    package var path: String { "/proc/self/fd/\(self.file.descriptor)" }

    /// Its size; for a copy the number of bytes that were read so far.
    package var bytes: Int64 { self.copying.withLock { $0?.bytes } ?? (try? self.file.size()) ?? 0 }

    /// Reads at most `count` bytes; fewer at the end alone.
    package func read(_ count: Int, at offset: Int64) throws(InputFileError) -> [UInt8] {
        try self.copying.withLock { (state) throws(InputFileError) in
            guard var copying = state else { return }
            while !copying.isComplete, copying.bytes < offset + Int64(count) { try self.copyPiece(&copying) }
            state = copying
        }
        return try self.read(self.file, count) { (memory) throws(FileError) in
            try self.file.read(into: memory, at: offset)
        }
    }

    /// Its text, from the beginning.
    package func text() -> TextInput {
        var offset: Int64 = 0
        return TextInput {
            let piece = try self.read(Self.textPieceBytes, at: offset)
            offset += Int64(piece.count)
            return piece
        }
    }

    private func copyPiece(_ copying: inout Copying) throws(InputFileError) {
        let source = copying.source
        let piece = try self.read(source, Self.pieceBytes) { (memory) throws(FileError) in
            try source.readNext(into: memory)
        }
        guard !piece.isEmpty else {
            copying.isComplete = true
            return
        }
        do throws(FileError) {
            guard try FileCopy.room(at: self.folder) - Int64(piece.count) >= self.reserveBytes else {
                throw FileError(errno: ENOSPC)
            }
            try self.file.append(piece, at: copying.bytes)
        } catch {
            let room = InputFileError.Room(
                folder: self.folder,
                copiedBytes: copying.bytes,
                reserveBytes: self.reserveBytes
            )
            throw InputFileError(self.name, .hasNoRoom(room, error))
        }
        copying.bytes += Int64(piece.count)
    }

    private func read(
        _ file: OpenFile,
        _ count: Int,
        _ read: (FileMemory) throws(FileError) -> Int
    ) throws(InputFileError) -> [UInt8] {
        var failure: FileError?
        // SAFETY: as many bytes are initialized as were read, and not more than there is room for.
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(FileError) {
                initialized = try read(FileMemory(buffer))
            } catch {
                failure = error
            }
        }
        if let failure { throw InputFileError(self.name, .cannotRead(failure)) }
        return bytes
    }
}

extension OpenFile {
    fileprivate func append(_ bytes: [UInt8], at offset: Int64) throws(FileError) {
        var failure: FileError?
        // SAFETY: the bytes are the array's, for the time of the call.
        bytes.withUnsafeBytes { bytes in
            do throws(FileError) {
                try self.write(bytes, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}

/// Why a file of an operation cannot be read, or not twice.
package struct InputFileError: Error, Hashable, Sendable {
    /// The disk of a copy.
    package struct Room: Hashable, Sendable {
        package let folder: String
        package let copiedBytes: Int64
        package let reserveBytes: Int64
    }

    package enum Cause: Hashable, Sendable {
        case cannotOpen(FileError)
        case cannotRead(FileError)
        /// It can be read once, and its copy cannot be made.
        case cannotCopy(folder: String, FileError)
        /// It can be read once, and the disk has no room for its copy.
        case hasNoRoom(Room, FileError)
    }

    package let file: String
    package let cause: Cause

    init(_ file: String, _ cause: Cause) {
        self.file = file
        self.cause = cause
    }
}
