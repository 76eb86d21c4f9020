import ArgumentParser
import Foundation
import RecordModel
import RecordStore

/// A schema in a file, or on standard input.
struct SchemaFile: ParsableArguments {
    @Argument(help: ArgumentHelp("A schema (.ckdb); standard input if '-' or missing.", valueName: "file"))
    var path: String?

    /// Reads and checks the schema.
    ///
    /// - Throws: `data`, with line and column if the text is wrong.
    func read() throws(CommandFailure) -> SchemaDocument {
        let name = self.path.flatMap { $0 == "-" ? nil : $0 } ?? "standard input"
        let bytes = try self.bytes(name)
        // A text has no zeros. The error for a program or an image should say so, rather than
        // complain about its first line.
        let isCut = bytes.count > Bounds.schemaBytesMax
        guard !bytes.contains(0), isCut || String(validating: bytes, as: UTF8.self) != nil else {
            throw CommandFailure(.data, "\(name) is not text. Name a schema (.ckdb): tidemark schema export")
        }
        do throws(SchemaError) {
            return try SchemaParser.parse(bytes)
        } catch {
            throw CommandFailure(.data, "\(name): \(error)")
        }
    }

    /// Reads no more than needed to see that the text is too large.
    private func bytes(_ name: String) throws(CommandFailure) -> [UInt8] {
        let file: FileHandle
        if let path = self.path, path != "-" {
            guard let opened = FileHandle(forReadingAtPath: path) else {
                throw CommandFailure(.data, "the schema \(path) cannot be read. Name a file that exists.")
            }
            file = opened
        } else {
            file = .standardInput
        }
        var bytes: [UInt8] = []
        do {
            while bytes.count <= Bounds.schemaBytesMax,
                let piece = try file.read(upToCount: Bounds.schemaBytesMax), !piece.isEmpty
            {
                bytes += piece
            }
        } catch {
            throw CommandFailure(.data, "\(name) cannot be read: \(error.localizedDescription)")
        }
        return bytes
    }
}
