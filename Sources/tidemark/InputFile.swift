import FileIO
import Foundation
import RecordJSON
import Synchronization

/// A file that a command reads more than once.
///
/// Standard input, and whatever else cannot be read twice, is copied into a file without a name, as far as
/// the command reads. So one that refuses the beginning copies no more than that. The kernel removes the
/// file with the process, however that ends.
final class InputFile: Sendable {
    private static let pieceBytes = 1 << 20
    private static let textPieceBytes = 256 * 1_024

    /// For messages.
    let name: String
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
    ///   - folder: The data folder, for the copy.
    ///   - reserveBytes: What the copy leaves free on its disk.
    /// - Throws: `data` if it cannot be opened.
    init(path: String?, folder: String, reserveBytes: Int) throws(CommandFailure) {
        let path = path.flatMap { $0 == "-" ? nil : $0 }
        self.name = path ?? "standard input"
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
            throw CommandFailure(
                .data,
                "\(self.name) cannot be read: \(error.reason). Name a file that exists."
            )
        }
        do throws(FileError) {
            let copy = folder + "/import-\(getpid()).unfinished"
            self.file = try OpenFile(path: copy, .replace)
            unlink(copy)
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "\(self.name) can be read once, and its copy cannot be made in \(folder): \(error.reason). Name a file."
            )
        }
        self.copying = Mutex(Copying(source: source))
    }

    /// A path under which the file can be opened again.
    ///
    /// Of a copy it has what was read so far.
    var path: String { "/proc/self/fd/\(self.file.descriptor)" }

    /// Its size; of a copy what was read so far.
    var bytes: Int64 { self.copying.withLock { $0?.bytes } ?? (try? self.file.size()) ?? 0 }

    /// Reads at most so many bytes; fewer at the end alone.
    func read(_ count: Int, at offset: Int64) throws(CommandFailure) -> [UInt8] {
        try self.copying.withLock { (state) throws(CommandFailure) in
            guard var copying = state else { return }
            while !copying.isComplete, copying.bytes < offset + Int64(count) { try self.copyPiece(&copying) }
            state = copying
        }
        return try self.read(self.file, count) { (memory) throws(FileError) in
            try self.file.read(into: memory, at: offset)
        }
    }

    /// Its text, from the beginning.
    func text() -> TextInput {
        var offset: Int64 = 0
        return TextInput {
            let piece = try self.read(Self.textPieceBytes, at: offset)
            offset += Int64(piece.count)
            return piece
        }
    }

    /// The error for a file that has become another one between two readings.
    func hasChanged(_ written: String) -> CommandFailure {
        CommandFailure(
            .data,
            "\(self.name) has changed since it was checked: the import stops, \(written). Import a file that nobody writes."
        )
    }

    private func copyPiece(_ copying: inout Copying) throws(CommandFailure) {
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
            throw CommandFailure(
                .cannotCreate,
                "\(self.name) can be read once, and \(self.folder) has no room for a copy: after \(copying.bytes) bytes no "
                    + "more than disk_reserve_bytes (\(self.reserveBytes)) are free (\(error.reason)). Make room, or name a "
                    + "file."
            )
        }
        copying.bytes += Int64(piece.count)
    }

    private func read(
        _ file: OpenFile,
        _ count: Int,
        _ read: (FileMemory) throws(FileError) -> Int
    ) throws(CommandFailure) -> [UInt8] {
        var failure: FileError?
        // SAFETY: as many bytes are initialized as were read, and not more than there is room for.
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(FileError) {
                initialized = try read(FileMemory(buffer))
            } catch {
                failure = error
            }
        }
        if let failure {
            throw CommandFailure(.data, "\(self.name) cannot be read: \(failure.reason).")
        }
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
