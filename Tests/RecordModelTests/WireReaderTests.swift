import RecordModel
import Testing

/// The bytes that a reader accepts, and the place where it stops.
@Suite struct WireReaderTests {
    /// The shortest and the longest value of each length, with their encodings.
    static let values: [(value: UInt64, bytes: [UInt8])] =
        [(0, [0]), (0x7F, [0x7F])]
        + (2...9).flatMap { (count: UInt64) -> [(value: UInt64, bytes: [UInt8])] in
            let full = [UInt8](repeating: 0xFF, count: Int(count) - 1) + [0x7F]
            let first = [UInt8](repeating: 0x80, count: Int(count) - 1) + [0x01]
            return [(1 << (7 * (count - 1)), first), (1 << (7 * count) - 1, full)]
        }
        + [
            (1 << 63, [UInt8](repeating: 0x80, count: 9) + [0x01]),
            (.max, [UInt8](repeating: 0xFF, count: 9) + [0x01]),
        ]

    @Test(arguments: Self.values)
    func `an integer is read from the fewest bytes, and written to them`(value: UInt64, bytes: [UInt8]) throws
    {
        #expect(try Self.varint(bytes) == value)
        #expect(try Self.minimalVarint(bytes) == value)
        #expect(value.varintBytes == bytes.count)
        var writer = WireWriter()
        writer.putVarint(value)
        #expect(writer.bytes == bytes)
    }

    @Test(arguments: Self.values)
    func `an integer that is cut off is refused at every byte`(value: UInt64, bytes: [UInt8]) {
        for count in 0..<bytes.count {
            let cut = Array(bytes[..<count])
            #expect(throws: WireFault.truncated) { try Self.varint(cut) }
            #expect(throws: WireFault.truncated) { try Self.minimalVarint(cut) }
        }
    }

    @Test(arguments: Self.values)
    func `an integer ends at the end of its part`(value: UInt64, bytes: [UInt8]) {
        for end in 0..<bytes.count {
            #expect(throws: WireFault.truncated) {
                var reader = WireReader(bytes.span, in: 0..<end)
                return try reader.varint()
            }
        }
    }

    @Test func `an integer may have bytes that it does not need, but no more than ten in all`() throws {
        for count in 2...10 {
            let padded = [0x81] + [UInt8](repeating: 0x80, count: count - 2) + [0x00]
            #expect(try Self.varint(padded) == 1)
            #expect(throws: WireFault.overlong) { try Self.minimalVarint(padded) }
        }
        let eleven = [UInt8](repeating: 0x80, count: 10) + [0x00]
        #expect(throws: WireFault.overlong) { try Self.varint(eleven) }
        #expect(throws: WireFault.overlong) { try Self.minimalVarint(eleven) }
    }

    @Test(arguments: [UInt8(0x02), 0x03, 0x7F])
    func `bits above 64 are cut off, or refused`(last: UInt8) throws {
        let bytes = [UInt8](repeating: 0xFF, count: 9) + [last]
        #expect(try Self.varint(bytes) == UInt64.max >> 1 | UInt64(last & 1) << 63)
        #expect(throws: WireFault.overlong) { try Self.minimalVarint(bytes) }
    }

    @Test(arguments: [0, 1, -1, 63, -64, 64, Int64.max, Int64.min])
    func `zigzag is its own opposite, and short for small numbers`(integer: Int64) {
        #expect(Int64(zigzag: integer.zigzag) == integer)
        #expect(integer.zigzag.varintBytes == 1 || !(-64...63).contains(integer))
    }

    @Test func `a length reaches to the end and no further`() throws {
        let bytes: [UInt8] = [2, 7, 8, 9]
        var reader = WireReader(bytes.span)
        let range = try reader.delimited()
        #expect(range == 1..<3)
        let position = reader.position
        #expect(position == 3)
        for bytes in [[2, 7], [1], [0x80, 0x01] + [UInt8](repeating: 0, count: 127)] as [[UInt8]] {
            #expect(throws: WireFault.truncated) {
                var reader = WireReader(bytes.span)
                return try reader.delimited()
            }
        }
        for length in [UInt64(Int64.max), 1 << 63, .max] {
            var writer = WireWriter()
            writer.putVarint(length)
            let bytes = writer.bytes + [1, 2, 3]
            #expect(throws: WireFault.truncated) {
                var reader = WireReader(bytes.span)
                return try reader.delimited()
            }
        }
    }

    @Test func `a part does not reach what lies behind it`() throws {
        let bytes: [UInt8] = [3, 2, 1, 2, 3, 4]
        var reader = WireReader(bytes.span)
        let range = try reader.delimited()
        #expect(throws: WireFault.truncated) {
            var part = WireReader(bytes.span).part(range)
            _ = try part.byte()
            return try part.skip(3)
        }
        #expect(throws: WireFault.truncated) {
            var part = WireReader(bytes.span).part(range)
            return try part.fixed64()
        }
    }

    @Test func `eight bytes begin with the least significant`() throws {
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
        var reader = WireReader(bytes.span)
        let value = try reader.fixed64()
        #expect(value == 0x0807_0605_0403_0201)
        for count in 0..<8 {
            #expect(throws: WireFault.truncated) {
                var reader = WireReader(bytes.span, in: 0..<count)
                return try reader.fixed64()
            }
        }
    }

    @Test func `every value that is not a group is skipped`() throws {
        let values: [(tag: UInt32, bytes: [UInt8])] = [
            (0x08, [0xFF, 0x01]), (0x09, [UInt8](repeating: 1, count: 8)), (0x0A, [2, 1, 2]),
            (0x0D, [1, 2, 3, 4]),
        ]
        for (tag, bytes) in values {
            var reader = WireReader(bytes.span)
            try reader.skipValue(ofTag: tag)
            let isAtEnd = reader.isAtEnd
            #expect(isAtEnd)
            for count in 0..<bytes.count {
                #expect(throws: WireFault.truncated) {
                    var reader = WireReader(bytes.span, in: 0..<count)
                    try reader.skipValue(ofTag: tag)
                }
            }
        }
        // The beginning and the end of a group, and two wire types that there are not.
        for tag in [0x0B, 0x0C, 0x0E, 0x0F] as [UInt32] {
            #expect(throws: WireFault.tag) {
                let bytes: [UInt8] = [1, 2, 3]
                var reader = WireReader(bytes.span)
                try reader.skipValue(ofTag: tag)
            }
        }
    }

    @Test func `a tag has a number from 1 to 2^29-1`() throws {
        #expect(try Self.tag([]) == nil)
        #expect(try Self.tag([0x08]) == 0x08)
        #expect(try Self.tag([0xFF, 0xFF, 0xFF, 0xFF, 0x0F]) == UInt32.max)
        for bytes in [[0x00], [0x07], [0xFF, 0xFF, 0xFF, 0xFF, 0x1F]] as [[UInt8]] {
            #expect(throws: WireFault.tag) { try Self.tag(bytes) }
        }
        #expect(throws: WireFault.truncated) { try Self.tag([0x80]) }
    }

    @Test func `the numbers of types are those of the fields`() {
        for type in FieldType.allCases {
            let field = Proto.Field.allCases.first { $0.number == UInt32(type.rawValue) }
            #expect(field.map { "\($0)" } == "\(type)")
        }
        #expect(Proto.Field.allCases.count == FieldType.allCases.count + 2)
    }

    private static func varint(_ bytes: [UInt8]) throws(WireFault) -> UInt64 {
        var reader = WireReader(bytes.span)
        let value = try reader.varint()
        let isAtEnd = reader.isAtEnd
        #expect(isAtEnd)
        return value
    }

    private static func minimalVarint(_ bytes: [UInt8]) throws(WireFault) -> UInt64 {
        var reader = WireReader(bytes.span)
        return try reader.minimalVarint()
    }

    private static func tag(_ bytes: [UInt8]) throws(WireFault) -> UInt32? {
        var reader = WireReader(bytes.span)
        return try reader.tag()
    }
}
