extension Span<UInt8> {
    /// A copy.
    @inlinable
    package func copied(_ range: Range<Int>) -> [UInt8] {
        // SAFETY: the array copies before the call returns. It copies all at once from a pointer only.
        self.extracting(range).withUnsafeBufferPointer { Array($0) }
    }

    /// Decodes text; replaces invalid UTF-8.
    @inlinable
    package func repairedText(_ range: Range<Int>) -> String {
        // SAFETY: the string copies before the call returns. It takes pointers or collections only.
        self.extracting(range).withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }

    /// Decodes text; `nil` if it is not UTF-8.
    package func text(_ range: Range<Int>) -> String? {
        let text = self.extracting(range)
        if text.isASCII { return text.repairedText(0..<text.count) }
        // SAFETY: as above.
        return text.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) }
    }

    /// Whether the bytes are UTF-8.
    ///
    /// Only non-ASCII text is decoded.
    package func isText(_ range: Range<Int>) -> Bool {
        let text = self.extracting(range)
        // SAFETY: as above.
        return text.isASCII || text.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) != nil }
    }

    /// Compares the bytes of a range with those of a text.
    package func isEqual(_ range: Range<Int>, to text: inout String) -> Bool {
        // SAFETY: our own text, for the duration of the call.
        text.withUTF8 { utf8 in
            utf8.count == range.count && self.isEqual(range, to: Span(_unsafeElements: utf8), from: 0)
        }
    }

    /// Compares the bytes of a range with bytes of `others` at an offset.
    ///
    /// - Precondition: `others` has enough bytes.
    package func isEqual(_ range: Range<Int>, to others: Span<UInt8>, from start: Int) -> Bool {
        let bytes = self.extracting(range).bytes
        let others = others.extracting(start..<start + range.count).bytes
        var offset = 0
        while bytes.byteCount - offset >= 8 {
            guard bytes.word(at: offset) == others.word(at: offset) else { return false }
            offset += 8
        }
        while offset < bytes.byteCount {
            guard bytes.byte(at: offset) == others.byte(at: offset) else { return false }
            offset += 1
        }
        return true
    }

    private var isASCII: Bool {
        let bytes = self.bytes
        var all: UInt64 = 0
        var offset = 0
        while bytes.byteCount - offset >= 8 {
            all |= bytes.word(at: offset)
            offset += 8
        }
        while offset < bytes.byteCount {
            all |= UInt64(bytes.byte(at: offset))
            offset += 1
        }
        return all & 0x8080_8080_8080_8080 == 0
    }
}

extension RawSpan {
    // "Unsafe" refers to the choice of a type alone, and any bytes are a valid number: the bounds
    // are checked.
    fileprivate func word(at offset: Int) -> UInt64 {
        self.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    fileprivate func byte(at offset: Int) -> UInt8 { self.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}
