import FileIO
import Foundation
import RecordJSON

/// A file of records that a command reads.
enum RecordFile {
    private static let pieceBytes = 256 * 1024

    /// Opens a file; standard input if `nil` or `-`.
    ///
    /// - Throws: `data` if it cannot be read.
    static func input(_ path: String?) throws(CommandFailure) -> (name: String, input: TextInput) {
        guard let path, path != "-" else { return ("standard input", Self.input(of: .standardInput)) }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue,
            let file = FileHandle(forReadingAtPath: path)
        else {
            throw CommandFailure(.data, "the file \(path) cannot be read. Name a file that exists.")
        }
        return (path, Self.input(of: file))
    }

    private static func input(of file: FileHandle) -> TextInput {
        TextInput { [UInt8](try file.read(upToCount: Self.pieceBytes) ?? Data()) }
    }

    /// The message of a command about an input without a byte, which may be an export of nothing.
    static let isEmpty = "the input is empty: there is no record in it"
}
