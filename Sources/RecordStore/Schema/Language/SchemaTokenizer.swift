/// Splits a text in the CloudKit Schema Language into tokens, and skips whitespace and comments.
struct SchemaTokenizer {
    private let bytes: [UInt8]
    private var offset = 0
    private var position = SchemaPosition(line: 1, column: 1)

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: Self.byteOrderMark) { self.offset = Self.byteOrderMark.count }
    }

    /// Returns the next token, or `end` at the end of the text and on every later call.
    mutating func next() throws(SchemaError) -> SchemaToken {
        try self.skipSpace()
        let start = self.position
        guard let byte = self.byte() else { return SchemaToken(kind: .end, position: start) }
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "<"),
            UInt8(ascii: ">"):
            self.advance()
            return SchemaToken(kind: .mark(byte), position: start)
        case UInt8(ascii: "\""):
            return SchemaToken(kind: .quoted(try self.quotedName()), position: start)
        case _ where Self.isWordByte(byte):
            let word = self.word()
            return SchemaToken(kind: .word(word, SchemaKeyword(word)), position: start)
        default:
            throw SchemaError(
                .unexpected(found: "\"\(self.character)\"", expected: ["a name", "a keyword", "a mark"]),
                at: start
            )
        }
    }

    private func byte(_ distance: Int = 0) -> UInt8? {
        self.offset + distance < self.bytes.count ? self.bytes[self.offset + distance] : nil
    }

    /// The character that begins here, however many bytes it has.
    private var character: String {
        let rest = self.bytes[self.offset...].prefix(4)
        return String(String(decoding: rest, as: UTF8.self).prefix(1))
    }

    private mutating func advance() {
        let byte = self.bytes[self.offset]
        self.offset += 1
        if byte == UInt8(ascii: "\n") {
            self.position = SchemaPosition(line: self.position.line + 1, column: 1)
        } else if byte & 0xC0 != 0x80 {
            // Continuation bytes are in the column of their character.
            self.position.column += 1
        }
    }

    private mutating func skipSpace() throws(SchemaError) {
        while let byte = self.byte() {
            switch (byte, self.byte(1)) {
            case (UInt8(ascii: " "), _), (UInt8(ascii: "\t"), _), (UInt8(ascii: "\r"), _),
                (UInt8(ascii: "\n"), _):
                self.advance()
            case (UInt8(ascii: "/"), UInt8(ascii: "/")), (UInt8(ascii: "-"), UInt8(ascii: "-")):
                while let next = self.byte(), next != UInt8(ascii: "\n") { self.advance() }
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                try self.skipComment()
            default:
                return
            }
        }
    }

    private mutating func skipComment() throws(SchemaError) {
        let start = self.position
        self.advance()
        self.advance()
        while let byte = self.byte() {
            if byte == UInt8(ascii: "*"), self.byte(1) == UInt8(ascii: "/") {
                self.advance()
                self.advance()
                return
            }
            self.advance()
        }
        throw SchemaError(.unended(.comment), at: start)
    }

    private mutating func quotedName() throws(SchemaError) -> String {
        let start = self.position
        self.advance()
        let first = self.offset
        while let byte = self.byte(), byte != UInt8(ascii: "\n") {
            self.advance()
            if byte == UInt8(ascii: "\"") {
                return String(decoding: self.bytes[first..<self.offset - 1], as: UTF8.self)
            }
        }
        throw SchemaError(.unended(.quotedName), at: start)
    }

    private mutating func word() -> String {
        let first = self.offset
        while let byte = self.byte(), Self.isWordByte(byte) { self.advance() }
        return String(decoding: self.bytes[first..<self.offset], as: UTF8.self)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "_")
    }
}
