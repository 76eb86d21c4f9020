import Administration
import FileIO
import Foundation

/// Hashes of the files of a stream, gathered in a file with a line for each.
///
/// The lines are those of `sha256sum`. Memory does not grow with their number.
struct StreamSums {
    private static let heldBytesMax = 64 * 1_024

    let path: String
    private let file: OpenFile
    private var held = ""
    private var bytes: Int64 = 0

    init(path: String) throws(FileError) {
        self.path = path
        self.file = try OpenFile(path: path, .replace)
    }

    mutating func add(_ sha256: [UInt8], _ path: String) throws {
        self.held += "\(Hexadecimal.text(of: sha256))  \(path)\n"
        if self.held.utf8.count >= Self.heldBytesMax { try self.flush() }
    }

    /// Writes what is held.
    mutating func flush() throws {
        let text = Data(self.held.utf8)
        self.held = ""
        // SAFETY: the bytes are used in the call only.
        try text.withUnsafeBytes { try self.file.write($0, at: self.bytes) }
        self.bytes += Int64(text.count)
    }

    /// The first path with a different line in another list; `nil` if all lines are the same.
    ///
    /// Both were flushed.
    func firstDifference(from other: StreamSums) throws -> String? {
        var (ours, theirs) = (LineReader(self.file), LineReader(other.file))
        while true {
            let (left, right) = (try ours.next(), try theirs.next())
            guard left != right else {
                if left == nil { return nil }
                continue
            }
            let line = left ?? right ?? ""
            return line.split(separator: "  ").last?.trimmingCharacters(in: .newlines) ?? ""
        }
    }

    /// Writes bytes that the caller has put together.
    mutating func append(_ piece: FileBytes) throws(FileError) {
        try self.file.write(piece, at: self.bytes)
        self.bytes += Int64(piece.count)
    }
}

/// Reads the lines of a file, a piece at a time.
private struct LineReader {
    private static let pieceBytes = 64 * 1_024

    private let file: OpenFile
    private var offset: Int64 = 0
    private var held: ArraySlice<UInt8> = []

    init(_ file: OpenFile) {
        self.file = file
    }

    /// Reads a line with its end; `nil` at the end of the file.
    ///
    /// A line that is longer than a piece comes in parts.
    mutating func next() throws(FileError) -> String? {
        if !self.held.contains(UInt8(ascii: "\n")) { try self.fill() }
        guard !self.held.isEmpty else { return nil }
        let end = self.held.firstIndex(of: UInt8(ascii: "\n")) ?? self.held.endIndex - 1
        defer { self.held = self.held[(end + 1)...] }
        return String(decoding: self.held[...end], as: UTF8.self)
    }

    private mutating func fill() throws(FileError) {
        // SAFETY: the buffer is used in this call only, within its bounds, and freed at its end.
        let buffer = FileMemory.allocate(byteCount: Self.pieceBytes, alignment: 16)
        defer { buffer.deallocate() }
        let count = try self.file.read(into: buffer, at: self.offset)
        self.offset += Int64(count)
        self.held = self.held + Array(buffer[..<count])
    }
}
