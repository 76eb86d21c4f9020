/// Reads records in JSON: one per line, or each over several lines.
///
/// Also accepts responses of CloudKit Web Services, `{"records":[…]}`, and arrays of records.
package struct JSONRecordReader: DraftReader {
    /// Maximum text of one record: more than needed with all its bytes in base64, or escaped.
    ///
    /// Bounds memory.
    package static let recordBytesMax = 8 * 1024 * 1024

    /// The next expected token in an array of records.
    private enum Position {
        /// A record, or the end.
        case begun
        /// A comma, or the end.
        case behindRecord
        /// A record.
        case behindComma
    }

    private static let records = "records"
    /// Members of a response other than its records: the cursors and tokens for the next one.
    private static let besideRecords: Set<String> = ["continuationMarker", "syncToken", "moreComing"]

    private var input: TextInput
    /// `nil` outside arrays.
    private var array: Position?
    private var isInAnswer = false

    private let owners: ZoneOwners

    package init(_ input: TextInput, owners: ZoneOwners = .count) {
        self.input = input
        self.owners = owners
    }

    package var bytesTaken: Int64 { self.input.bytesTaken }

    package mutating func next() throws -> RecordDraft? {
        try self.input.skipByteOrderMark()
        while let byte = try self.peek() {
            let position = self.input.position
            switch (byte, self.array) {
            case (UInt8(ascii: "["), nil):
                _ = try self.input.next()
                self.array = .begun
            case (UInt8(ascii: "]"), .begun?), (UInt8(ascii: "]"), .behindRecord?):
                _ = try self.input.next()
                self.array = nil
                if self.isInAnswer { try self.endAnswer() }
            case (UInt8(ascii: ","), .behindRecord?):
                _ = try self.input.next()
                self.array = .behindComma
            case (UInt8(ascii: "{"), nil):
                if let draft = try self.recordOrResponse(from: position) { return draft }
            case (UInt8(ascii: "{"), .begun?), (UInt8(ascii: "{"), .behindComma?):
                self.array = .behindRecord
                return try self.record(ObjectText(), from: position)
            case (_, .behindRecord?): throw RecordJSONError(.syntax(expected: "',' or ']'"), at: position)
            case (_, nil), (_, .begun?), (_, .behindComma?):
                throw RecordJSONError(.syntax(expected: "'{', which begins a record"), at: position)
            }
        }
        guard self.array == nil else { throw RecordJSONError(.unfinished, at: self.input.position) }
        return nil
    }

    /// The next byte that is not white space.
    private mutating func peek() throws -> UInt8? {
        while let byte = try self.input.peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
            _ = try self.input.next()
        }
        return try self.input.peek()
    }

    // MARK: Records

    /// Reads a record, or a response up to its records; `nil` for a response.
    private mutating func recordOrResponse(from position: TextPosition) throws -> RecordDraft? {
        var text = ObjectText()
        while !text.isWhole, text.firstName == nil, try self.take(into: &text, from: position) {}
        guard let name = text.firstName, name == Self.records || Self.besideRecords.contains(name) else {
            return try self.record(text, from: position)
        }
        self.isInAnswer = true
        try self.readAnswer(from: name, hasRecords: false)
        return nil
    }

    /// Reads the rest of a record.
    private mutating func record(_ text: ObjectText, from position: TextPosition) throws -> RecordDraft {
        var text = text
        // The parser reports a truncated text.
        while !text.isWhole, try self.take(into: &text, from: position) {}
        return try RecordDraft(JSONParser.parse(text.bytes, from: position), owners: self.owners)
    }

    /// Adds a byte, and returns `false` at the end of the text.
    private mutating func take(into text: inout ObjectText, from position: TextPosition) throws -> Bool {
        guard let byte = try self.input.next() else { return false }
        guard text.bytes.count < Self.recordBytesMax else {
            // A missing quote or brace makes the rest of a file one record. The parser locates it.
            do throws(RecordJSONError) { _ = try JSONParser.parse(text.bytes, from: position) } catch {
                if error.reason != .unfinished { throw error }
            }
            throw RecordJSONError(.tooLarge(bytesMax: Self.recordBytesMax), at: position)
        }
        text.add(byte)
        return true
    }

    // MARK: Responses

    /// Reads members of a response up to its records, or up to its end.
    ///
    /// `name` is the first member's, already read; `nil` if a comma or the end comes next.
    private mutating func readAnswer(from name: String?, hasRecords: Bool) throws {
        var next = name
        while true {
            let position = self.input.position
            guard let name = try next ?? self.nextName() else {
                guard hasRecords else { throw RecordJSONError(.missing(name: Self.records), at: position) }
                self.isInAnswer = false
                return
            }
            next = nil
            try self.take(UInt8(ascii: ":"), "':'")
            if name == Self.records {
                guard !hasRecords else { throw RecordJSONError(.duplicate(name: name), at: position) }
                try self.take(UInt8(ascii: "["), "an array of records")
                self.array = .begun
                return
            }
            guard Self.besideRecords.contains(name) else {
                throw RecordJSONError(.unknown(name: name), at: position)
            }
            try self.skipScalar()
        }
    }

    private mutating func endAnswer() throws { try self.readAnswer(from: nil, hasRecords: true) }

    /// The name after a comma; `nil` at the end of the object.
    private mutating func nextName() throws -> String? {
        if try self.peek() == UInt8(ascii: "}") {
            _ = try self.input.next()
            return nil
        }
        try self.take(UInt8(ascii: ","), "',' or '}'")
        guard try self.peek() == UInt8(ascii: "\"") else { throw try self.expected("a name in quotes") }
        guard case .string(let name) = try self.scalar().value else { return nil }
        return name
    }

    private mutating func skipScalar() throws {
        guard let byte = try self.peek(), byte != UInt8(ascii: "{"), byte != UInt8(ascii: "[") else {
            throw try self.expected("a text, true or false")
        }
        _ = try self.scalar()
    }

    /// Reads a text in quotes, or a word or number up to its end.
    private mutating func scalar() throws -> JSONNode {
        let position = self.input.position
        var text = ObjectText()
        while let byte = try self.input.peek(), text.isInString || !Self.endsWord(byte),
            try self.take(into: &text, from: position)
        {
            if byte == UInt8(ascii: "\""), !text.isInString { break }
        }
        return try JSONParser.parse(text.bytes, from: position)
    }

    private static func endsWord(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    }

    private mutating func take(_ byte: UInt8, _ what: String) throws {
        guard try self.peek() == byte else { throw try self.expected(what) }
        _ = try self.input.next()
    }

    private mutating func expected(_ what: String) throws -> RecordJSONError {
        RecordJSONError(
            try self.input.peek() == nil ? .unfinished : .syntax(expected: what),
            at: self.input.position
        )
    }
}

/// The bytes of an object, up to its closing brace.
private struct ObjectText {
    private(set) var bytes: [UInt8] = []
    private(set) var isInString = false
    /// The first name, once its quotes are closed.
    private(set) var firstName: String?
    private var isEscaped = false
    private var level = 0
    /// The offset of the first text.
    private var firstQuote: Int?

    var isWhole: Bool { self.level == 0 && self.bytes.last.map { $0 == 0x7D || $0 == 0x5D } ?? false }

    mutating func add(_ byte: UInt8) {
        self.bytes.append(byte)
        switch byte {
        case _ where self.isEscaped: self.isEscaped = false
        case UInt8(ascii: "\\") where self.isInString: self.isEscaped = true
        case UInt8(ascii: "\""):
            self.isInString.toggle()
            guard let quote = self.firstQuote else {
                self.firstQuote = self.bytes.count
                return
            }
            if self.firstName == nil {
                self.firstName = String(decoding: self.bytes[quote..<self.bytes.count - 1], as: UTF8.self)
            }
        case _ where self.isInString: return
        case UInt8(ascii: "{"), UInt8(ascii: "["): self.level += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): self.level -= 1
        default: return
        }
    }
}
