import ArgumentParser
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
        let bytes = try WholeFile.bytes(
            self.path,
            called: "the schema",
            bytesMax: Bounds.schemaBytesMax
        )
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
}
