import FileIO
import Foundation

/// A small file that is read, or written, at once.
enum WholeFile {
    /// Reads a file; standard input if `nil` or `-`.
    ///
    /// - Returns: Its bytes, and some more than `bytesMax` if it is larger.
    /// - Throws: `data` if it cannot be read.
    static func bytes(_ path: String?, called what: String, bytesMax: Int) throws(CommandFailure) -> [UInt8] {
        let path = path.flatMap { $0 == "-" ? nil : $0 }
        var bytes: [UInt8] = []
        do throws(FileError) {
            let file = try OpenFile(waitingFor: path)
            let piece = FileMemory.allocate(byteCount: 64 * 1_024, alignment: 16)
            defer { piece.deallocate() }
            while bytes.count <= bytesMax {
                let count = try file.readNext(into: piece)
                guard count > 0 else { break }
                bytes += piece[..<count]
            }
        } catch {
            throw CommandFailure(
                .data,
                "\(what) \(path ?? "on standard input") cannot be read: \(error.reason). Name a file that exists."
            )
        }
        return bytes
    }

    /// Replaces a file of the process's own with a text, with the mode 0600.
    ///
    /// A reader sees the old text or the new one.
    static func replace(_ path: String, with text: String) throws {
        let draft = path + ".new"
        unlink(draft)
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard
            FileManager.default.createFile(atPath: draft, contents: Data(text.utf8), attributes: attributes),
            rename(draft, path) == 0
        else {
            unlink(draft)
            throw CocoaError(.fileWriteUnknown)
        }
    }
}
