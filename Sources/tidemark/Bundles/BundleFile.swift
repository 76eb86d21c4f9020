import FileIO
import Foundation

/// The file of a bundle, which is read more than once.
///
/// Standard input, and whatever else cannot be read twice, is copied into a file without a name. The
/// kernel removes it with the process, however that ends.
final class BundleFile: Sendable {
    private static let pieceBytes = 1 << 20

    /// For messages.
    let name: String
    let bytes: Int64
    private let file: OpenFile

    /// - Parameters:
    ///   - path: Standard input if `nil` or `-`.
    ///   - folder: A folder for the copy.
    /// - Throws: `data` if it cannot be read.
    init(path: String?, folder: String) throws(CommandFailure) {
        let path = path.flatMap { $0 == "-" ? nil : $0 }
        self.name = path ?? "standard input"
        do throws(FileError) {
            if let regular = try Self.regular(path) {
                self.file = regular
            } else {
                self.file = try Self.spool(path, folder)
            }
            self.bytes = try self.file.size()
        } catch {
            throw CommandFailure(
                .data,
                "\(path ?? "standard input") cannot be read: \(error.reason). Name a file that exists, and look for room in \(folder)."
            )
        }
    }

    /// A path under which the same file can be opened again.
    var path: String { "/proc/self/fd/\(self.file.descriptor)" }

    /// The file itself; `nil` if it cannot be read twice.
    private static func regular(_ path: String?) throws(FileError) -> OpenFile? {
        let file: OpenFile
        do throws(FileError) {
            file = try OpenFile(path: path ?? "/dev/stdin", .read)
        } catch {
            // A socket can be standard input, and cannot be opened.
            guard path == nil else { throw error }
            return nil
        }
        return try file.isRegular() ? file : nil
    }

    private static func spool(_ path: String?, _ folder: String) throws(FileError) -> OpenFile {
        let name = folder + "/import-\(getpid()).unfinished"
        let spool = try OpenFile(path: name, .replace)
        unlink(name)
        let input = path.map { FileHandle(forReadingAtPath: $0) } ?? .standardInput
        guard let input else { throw FileError(errno: ENOENT) }
        var offset: Int64 = 0
        while true {
            let piece: Data
            do {
                piece = try input.read(upToCount: Self.pieceBytes) ?? Data()
            } catch {
                throw FileError(errno: EIO)
            }
            guard !piece.isEmpty else { return spool }
            let bytes = [UInt8](piece)
            var failure: FileError?
            // SAFETY: the bytes are the array's, for the time of the call.
            bytes.withUnsafeBytes { bytes in
                do throws(FileError) {
                    try spool.write(bytes, at: offset)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            offset += Int64(piece.count)
        }
    }

    /// Reads at most so many bytes; fewer at the end alone.
    func read(_ count: Int, at offset: Int64) throws(CommandFailure) -> [UInt8] {
        var failure: FileError?
        // SAFETY: as many bytes are initialized as were read, and not more than there is room for.
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(FileError) {
                initialized = try self.file.read(into: FileMemory(buffer), at: offset)
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
