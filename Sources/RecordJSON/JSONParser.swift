/// Reads one JSON value from untrusted bytes.
///
/// Stricter than RFC 8259: UTF-8 only, unique names in an object, and a bound on levels. So any two
/// readers interpret such a text alike.
///
/// - Source: RFC 8259; RFC 7493, section 2.
package struct JSONParser {
    /// Bounds the stack; a record needs 6.
    package static let levelsMax = 32
    /// Bounds memory: a body of 1 MiB has no more values.
    package static let valuesMax = 1_100_000

    private let bytes: [UInt8]
    private var offset = 0
    private var values = 0
    private let valuesLimit: Int
    private var position: TextPosition

    /// Reads a text that is one value, with white space around it.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - position: The position of the text in its file.
    ///   - valuesLimit: Values that the text may have.
    /// - Returns: The value, with the positions of all its parts.
    /// - Throws: The first error, with its position.
    package static func parse(
        _ bytes: [UInt8],
        from position: TextPosition = TextPosition(line: 1, column: 1),
        valuesLimit: Int = Self.valuesMax
    ) throws(RecordJSONError) -> JSONNode {
        var parser = JSONParser(bytes: bytes, position: position, valuesLimit: valuesLimit)
        let node = try parser.value(level: 1)
        parser.skipSpace()
        guard parser.next == nil else { throw parser.expected("nothing behind the value") }
        return node
    }

    private init(bytes: [UInt8], position: TextPosition, valuesLimit: Int) {
        self.valuesLimit = valuesLimit
        self.bytes = bytes
        self.position = position
    }

    // MARK: Bytes

    private var next: UInt8? { self.offset < self.bytes.count ? self.bytes[self.offset] : nil }

    private mutating func advance() {
        if self.bytes[self.offset] == UInt8(ascii: "\n") {
            self.position = TextPosition(line: self.position.line + 1, column: 1)
        } else {
            self.position.column += 1
        }
        self.offset += 1
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard self.next == UInt8(ascii: byte) else { return false }
        self.advance()
        return true
    }

    private mutating func skipSpace() {
        while let byte = self.next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
            self.advance()
        }
    }

    private func expected(_ what: String) -> RecordJSONError {
        RecordJSONError(self.next == nil ? .unfinished : .syntax(expected: what), at: self.position)
    }

    // MARK: Values

    private mutating func value(level: Int) throws(RecordJSONError) -> JSONNode {
        self.skipSpace()
        let position = self.position
        guard level <= Self.levelsMax else {
            throw RecordJSONError(.tooDeep(levelsMax: Self.levelsMax), at: position)
        }
        self.values += 1
        guard self.values <= self.valuesLimit else {
            throw RecordJSONError(.tooManyValues(max: self.valuesLimit), at: position)
        }
        let value: JSONNode.Value
        switch self.next {
        case UInt8(ascii: "{"): value = .object(try self.members(level: level))
        case UInt8(ascii: "["): value = .array(try self.elements(level: level))
        case UInt8(ascii: "\""): value = .string(try self.string())
        case UInt8(ascii: "t"): value = try self.word("true", .bool(true))
        case UInt8(ascii: "f"): value = try self.word("false", .bool(false))
        case UInt8(ascii: "n"): value = try self.word("null", .null)
        default: value = .number(try self.number())
        }
        return JSONNode(position: position, value: value)
    }

    private mutating func word(
        _ word: String,
        _ value: JSONNode.Value
    ) throws(RecordJSONError) -> JSONNode.Value {
        for byte in word.unicodeScalars {
            guard self.take(byte) else { throw self.expected("'\(word)'") }
        }
        return value
    }

    private mutating func members(level: Int) throws(RecordJSONError) -> [JSONNode.Member] {
        self.advance()
        var members: [JSONNode.Member] = []
        // Swift compares canonically equivalent texts as equal, but the server does not.
        var names: Set<[UInt8]> = []
        self.skipSpace()
        if self.take("}") { return members }
        repeat {
            self.skipSpace()
            let position = self.position
            guard self.next == UInt8(ascii: "\"") else { throw self.expected("a name in quotes") }
            let name = try self.string()
            guard names.insert(Array(name.utf8)).inserted else {
                throw RecordJSONError(.duplicate(name: name), at: position)
            }
            self.skipSpace()
            guard self.take(":") else { throw self.expected("':'") }
            members.append(
                JSONNode.Member(name: name, position: position, node: try self.value(level: level + 1))
            )
            self.skipSpace()
        } while self.take(",")
        guard self.take("}") else { throw self.expected("',' or '}'") }
        return members
    }

    private mutating func elements(level: Int) throws(RecordJSONError) -> [JSONNode] {
        self.advance()
        var elements: [JSONNode] = []
        self.skipSpace()
        if self.take("]") { return elements }
        repeat {
            elements.append(try self.value(level: level + 1))
            self.skipSpace()
        } while self.take(",")
        guard self.take("]") else { throw self.expected("',' or ']'") }
        return elements
    }

    private mutating func number() throws(RecordJSONError) -> String {
        let start = self.offset
        _ = self.take("-")
        if !self.take("0") { try self.digits("a value") }
        if self.take(".") { try self.digits("a digit") }
        if self.take("e") || self.take("E") {
            _ = self.take("+") || self.take("-")
            try self.digits("a digit")
        }
        return String(decoding: self.bytes[start..<self.offset], as: UTF8.self)
    }

    private mutating func digits(_ what: String) throws(RecordJSONError) {
        let start = self.offset
        while let byte = self.next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { self.advance() }
        guard self.offset > start else { throw self.expected(what) }
    }

    // MARK: Texts

    private mutating func string() throws(RecordJSONError) -> String {
        let start = self.position
        self.advance()
        var text: [UInt8] = []
        while let byte = self.next {
            switch byte {
            case UInt8(ascii: "\""):
                self.advance()
                guard let valid = String(validating: text, as: UTF8.self) else {
                    throw RecordJSONError(.notUTF8, at: start)
                }
                return valid
            case UInt8(ascii: "\\"):
                self.advance()
                try self.escape(into: &text)
            case 0..<0x20: throw self.expected("an escape in place of a control character")
            default:
                text.append(byte)
                self.advance()
            }
        }
        throw self.expected("'\"'")
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "/"): 0x2F,
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A,
        UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
    ]

    private mutating func escape(into text: inout [UInt8]) throws(RecordJSONError) {
        guard let byte = self.next else { throw self.expected("an escape") }
        if let escaped = Self.escapes[byte] {
            self.advance()
            text.append(escaped)
            return
        }
        guard self.take("u") else { throw self.expected("one of the escapes of JSON") }
        let first = try self.codeUnit()
        var units = [first]
        if UTF16.isLeadSurrogate(first), self.take("\\") {
            guard self.take("u") else { throw self.expected("the second half of a surrogate pair") }
            units.append(try self.codeUnit())
        }
        guard let valid = String(validating: units, as: UTF16.self) else {
            throw RecordJSONError(.syntax(expected: "a pair of surrogates"), at: self.position)
        }
        text += valid.utf8
    }

    private mutating func codeUnit() throws(RecordJSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = self.next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80
            else { throw self.expected("four hexadecimal digits") }
            unit = unit << 4 | UInt16(digit)
            self.advance()
        }
        return unit
    }
}
