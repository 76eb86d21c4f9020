/// The header of an entry of a tar archive, in the format `ustar`.
///
///      0    100  108  116  124  136   148   156  157   257    263   265   329   500
///     +----+----+----+----+----+-----+-----+----+-----+------+-----+-----+-----+----+
///     |name|mode|uid |gid |size|mtime|check|type|link |ustar\0| 00 |names|…    |zero| 512 bytes
///     +----+----+----+----+----+-----+-----+----+-----+------+-----+-----+-----+----+
///
/// Numbers are octal text with a zero byte at the end. A size beyond eleven digits stands in an extended
/// header (`pax`) before this one. Equal entries have equal headers, so a reader compares bytes.
///
/// - Source: POSIX.1-2017, *pax*, "ustar Interchange Format" and "pax Extended Header".
struct TarHeader: Hashable, Sendable {
    enum Kind: UInt8, Hashable, Sendable {
        case file = 0x30
        /// An extended header for the entry behind it.
        case extended = 0x78
    }

    static let blockBytes = 512
    static let nameBytesMax = 100
    /// Beyond it, a size does not fit into eleven octal digits.
    static let sizeMax: Int64 = 0o777_7777_7777

    var name: String
    var kind = Kind.file
    /// Of the contents.
    var size: Int64
    /// Seconds since 1970.
    var modifiedSeconds: Int64

    /// The block; of a size that does not fit, it says 0.
    var bytes: [UInt8] {
        var block = [UInt8](repeating: 0, count: Self.blockBytes)
        func put(_ bytes: some Sequence<UInt8>, at offset: Int) {
            for (index, byte) in bytes.enumerated() { block[offset + index] = byte }
        }
        func put(_ number: Int64, digits: Int, at offset: Int) {
            let text = String(number, radix: 8)
            put(String(repeating: "0", count: digits - text.utf8.count).utf8, at: offset)
            put(text.utf8, at: offset + digits - text.utf8.count)
        }
        put(self.name.utf8, at: 0)
        put(0o600, digits: 7, at: 100)
        put(0, digits: 7, at: 108)
        put(0, digits: 7, at: 116)
        put(self.size > Self.sizeMax ? 0 : self.size, digits: 11, at: 124)
        put(self.modifiedSeconds, digits: 11, at: 136)
        put(repeatElement(UInt8(ascii: " "), count: 8), at: 148)
        block[156] = self.kind.rawValue
        put("ustar\u{0}00".utf8, at: 257)
        put(0, digits: 7, at: 329)
        put(0, digits: 7, at: 337)
        let sum = block.reduce(0) { $0 + Int64($1) }
        put(sum, digits: 6, at: 148)
        block[154] = 0
        return block
    }

    /// Zero bytes between the contents and the next header.
    static func padding(of size: Int64) -> Int {
        Int((Int64(Self.blockBytes) - size % Int64(Self.blockBytes)) % Int64(Self.blockBytes))
    }

    /// The contents of the extended header of an entry whose size does not fit.
    static func extended(forSize size: Int64) -> [UInt8] {
        // The number at the beginning counts itself.
        var length = 0
        var text = ""
        repeat {
            length = text.utf8.count
            text = "\(length) size=\(size)\n"
        } while text.utf8.count != length
        return Array(text.utf8)
    }

    /// The size in such contents; `nil` if there is none.
    static func size(inExtended bytes: [UInt8]) -> Int64? {
        guard let text = String(validating: bytes, as: UTF8.self),
            let mark = text.firstRange(of: " size="), text.last == "\n",
            let size = Int64(text[mark.upperBound...].dropLast()), size > Self.sizeMax,
            Self.extended(forSize: size) == bytes
        else { return nil }
        return size
    }
}

extension TarHeader {
    /// Reads a block; `nil` if it is no header that this type would write.
    init?(_ block: [UInt8]) {
        guard block.count == Self.blockBytes, let kind = Kind(rawValue: block[156]),
            let name = String(validating: block[..<Self.nameBytesMax].prefix { $0 != 0 }, as: UTF8.self),
            let size = Self.number(block[124..<135]), let seconds = Self.number(block[136..<147]),
            !name.isEmpty
        else { return nil }
        self.init(name: name, kind: kind, size: size, modifiedSeconds: seconds)
        guard self.bytes == block else { return nil }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(digit) else { return nil }
            number = number << 3 | Int64(digit & 7)
        }
        return number
    }
}
