/// Reads records in JSON: one a line, or over several lines each.
package struct JSONRecordReader: DraftReader {
    /// The text of one record: more than one with all its bytes in base64, or escaped, needs.
    ///
    /// Bounds memory.
    package static let recordBytesMax = 8 * 1024 * 1024

    private var input: TextInput

    package init(_ input: TextInput) { self.input = input }

    package var bytesTaken: Int64 { self.input.bytesTaken }

    package mutating func next() throws -> RecordDraft? {
        while let byte = try self.input.peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
            _ = try self.input.next()
        }
        guard let first = try self.input.peek() else { return nil }
        let place = self.input.place
        guard first == UInt8(ascii: "{") else {
            throw RecordJSONError(.syntax(expected: "'{', which begins a record"), at: place)
        }
        return try RecordDraft(JSONParser.parse(try self.object(from: place), from: place))
    }

    /// Takes the bytes up to the brace that closes the first one.
    private mutating func object(from place: TextPlace) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var level = 0
        var isInString = false
        var isEscaped = false
        while let byte = try self.input.next() {
            guard bytes.count < Self.recordBytesMax else {
                // A missing quote or brace makes the rest of a file one record. The parser finds it.
                do throws(RecordJSONError) { _ = try JSONParser.parse(bytes, from: place) } catch {
                    if error.reason != .unfinished { throw error }
                }
                throw RecordJSONError(.tooLarge(bytesMax: Self.recordBytesMax), at: place)
            }
            bytes.append(byte)
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\") where isInString: isEscaped = true
            case UInt8(ascii: "\""): isInString.toggle()
            case _ where isInString: continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): level += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                level -= 1
                if level == 0 { return bytes }
            default: continue
            }
        }
        // The parser says where the text ends.
        return bytes
    }
}
