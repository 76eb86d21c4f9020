/// Reads a text piece by piece, and keeps track of the position.
///
/// Holds one piece. The source of the bytes decides its size.
package struct TextInput {
    /// Returns the next bytes; none at the end.
    package typealias Read = () throws -> [UInt8]

    private let read: Read
    private var piece: [UInt8] = []
    private var offset = 0
    private(set) var position = TextPosition(line: 1, column: 1)
    /// Number of bytes taken so far.
    private(set) var bytesTaken: Int64 = 0

    package init(_ read: @escaping Read) { self.read = read }

    /// The next byte, without taking it; `nil` at the end.
    mutating func peek() throws -> UInt8? {
        if self.offset == self.piece.count {
            self.piece = try self.read()
            self.offset = 0
            if self.piece.isEmpty { return nil }
        }
        return self.piece[self.offset]
    }

    /// Skips the byte order mark with which some programs begin a text.
    ///
    /// - Throws: `RecordJSONError` if the text begins with a part of one.
    mutating func skipByteOrderMark() throws {
        guard self.bytesTaken == 0, try self.peek() == 0xEF else { return }
        for expected: UInt8 in [0xEF, 0xBB, 0xBF] {
            guard try self.next() == expected else {
                throw RecordJSONError(.notUTF8, at: TextPosition(line: 1, column: 1))
            }
        }
        self.position = TextPosition(line: 1, column: 1)
    }

    mutating func next() throws -> UInt8? {
        guard let byte = try self.peek() else { return nil }
        self.offset += 1
        self.bytesTaken += 1
        if byte == UInt8(ascii: "\n") {
            self.position = TextPosition(line: self.position.line + 1, column: 1)
        } else {
            self.position.column += 1
        }
        return byte
    }
}

/// A text of consecutive records.
package protocol DraftReader {
    /// Reads the next record, or returns `nil` at the end of the text.
    ///
    /// - Throws: `RecordJSONError` for the first error, and file errors. Reading cannot continue
    ///   after one.
    mutating func next() throws -> RecordDraft?

    /// Bytes of the text up to the end of the last record.
    var bytesTaken: Int64 { get }
}
