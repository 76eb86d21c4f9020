/// Reads the one encoding that bodies permit: integers have the fewest bytes, and no bytes are left
/// over.
struct BodyReader: ~Escapable {
    private var wire: WireReader

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>) {
        self.wire = WireReader(bytes)
    }

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, in range: Range<Int>) {
        self.wire = WireReader(bytes, in: range)
    }

    var bytes: Span<UInt8> {
        @_lifetime(copy self)
        get { self.wire.bytes }
    }

    var position: Int { self.wire.position }

    var isAtEnd: Bool { self.wire.isAtEnd }

    /// The bytes that are left to read.
    var rest: Range<Int> { self.wire.position..<self.wire.end }

    /// A reader of another part of the same bytes.
    @_lifetime(copy self)
    @inline(__always)
    func part(_ range: Range<Int>) -> BodyReader { BodyReader(self.wire.bytes, in: range) }

    /// A reader of the length-delimited message that follows.
    @_lifetime(copy self)
    @inline(__always)
    mutating func message() throws(BodyError) -> BodyReader { self.part(try self.delimited()) }

    @inline(__always)
    mutating func varint() throws(BodyError) -> UInt64 {
        do {
            return try self.wire.minimalVarint()
        } catch {
            throw .malformed
        }
    }

    @inline(__always)
    mutating func zigzag() throws(BodyError) -> Int64 { Int64(zigzag: try self.varint()) }

    @inline(__always)
    mutating func double() throws(BodyError) -> Double {
        do {
            return Double(bitPattern: try self.wire.fixed64())
        } catch {
            throw .malformed
        }
    }

    /// Skips a length and that many bytes.
    ///
    /// Returns the range of the bytes.
    @inline(__always)
    mutating func delimited() throws(BodyError) -> Range<Int> {
        let count = try self.varint()
        do {
            return try self.wire.skip(count)
        } catch {
            throw .malformed
        }
    }

    /// Reads the tag of the next field, or returns `nil` at the end.
    ///
    /// - Throws: `BodyError.malformed` also for a field that the message does not have.
    @inline(__always)
    mutating func next<Field: WireField>(_: Field.Type) throws(BodyError) -> Field? {
        guard !self.isAtEnd else { return nil }
        guard let field = Field(tag: try self.tag()) else { throw .malformed }
        return field
    }

    /// Reads the tag of the next field that this version knows, and skips others; `nil` at the end.
    mutating func nextKnown<Field: WireField>(_: Field.Type) throws(BodyError) -> Field? {
        while !self.isAtEnd {
            let tag = try self.tag()
            if let field = Field(tag: tag) { return field }
            _ = try self.value(ofTag: tag)
        }
        return nil
    }

    /// Reads the tag of a required field.
    @inline(__always)
    mutating func expect(_ field: some WireField) throws(BodyError) {
        guard try self.varint() == UInt64(field.tag) else { throw .malformed }
    }

    /// Skips a value.
    ///
    /// Returns its range, without the length of a length-delimited one.
    @inline(__always)
    mutating func value(ofTag tag: UInt32) throws(BodyError) -> Range<Int> {
        let start = self.position
        switch tag & 7 {
        case 0:
            _ = try self.varint()
            return start..<self.position
        case 1:
            _ = try self.double()
            return start..<self.position
        case 2: return try self.delimited()
        default: throw .malformed
        }
    }

    /// - Throws: `BodyError.malformed` if bytes are left to read.
    @inline(__always)
    func finish() throws(BodyError) {
        guard self.isAtEnd else { throw .malformed }
    }

    @inline(__always)
    private mutating func tag() throws(BodyError) -> UInt32 {
        guard let tag = UInt32(exactly: try self.varint()) else { throw .malformed }
        return tag
    }
}
