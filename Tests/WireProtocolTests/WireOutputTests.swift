import NIOCore
import RecordModel
import Testing
import WireProtocol

/// Two outputs, one encoding.
@Suite struct WireOutputTests {
    @Test(arguments: [0, 1, 127, 128, 129, 16_383, 16_384, 100_000])
    func `a message is the same in an array and in a buffer`(count: Int) {
        let contents = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        var writer = WireWriter([9])
        writer.writeMessage(Proto.Items.items) { $0.put(contents.span) }
        var buffer = ByteBuffer(bytes: [9])
        buffer.writeMessage(Proto.Items.items) { $0.put(contents.span) }
        let size = WireSize.message(Proto.Items.items, bytes: count)
        #expect(Array(buffer.readableBytesView) == writer.bytes)
        #expect(writer.bytes.suffix(count) == contents[...] && writer.bytes.count == size + 1)
    }

    @Test func `messages in messages have the lengths of what is in them`() {
        func nested(_ depth: Int, _ output: inout some GrowingWireOutput) {
            output.put([UInt8](repeating: 7, count: 100).span)
            guard depth > 0 else { return }
            output.writeMessage(Proto.Predicate.and) { nested(depth - 1, &$0) }
        }
        var writer = WireWriter()
        nested(200, &writer)
        var buffer = ByteBuffer()
        nested(200, &buffer)
        #expect(Array(buffer.readableBytesView) == writer.bytes)
        var reader = WireReader(writer.bytes.span)
        var depth = 0
        while (try? reader.skip(100)) != nil, (try? reader.tag()) == Proto.Predicate.and.tag,
            let range = try? reader.delimited()
        {
            #expect(range.upperBound == writer.bytes.count)
            reader = reader.part(range)
            depth += 1
        }
        #expect(depth == 200)
    }

    /// The least and the greatest value of each length.
    static let values: [UInt64] = (0...9).flatMap { (bytes: UInt64) -> [UInt64] in
        let least: UInt64 = 1 << (7 * bytes)
        return [least - 1, least]
    }

    @Test(arguments: values + [.max])
    func `an integer is the same in an array and in a buffer, also in a full one`(value: UInt64) {
        var writer = WireWriter()
        var buffer = ByteBuffer()
        for _ in 0..<20 {
            writer.putVarint(value)
            writer.put(9)
            buffer.putVarint(value)
            buffer.put(9 as UInt8)
        }
        #expect(Array(buffer.readableBytesView) == writer.bytes)
    }

    @Test(arguments: [0, 1, 127, 128, UInt64(UInt32.max), 1 << 63, .max])
    func `a field is as large as its size says`(value: UInt64) {
        for field in Proto.Record.allCases {
            var writer = WireWriter()
            writer.writeField(field, value)
            #expect(writer.bytes.count == WireSize.field(field, value))
        }
        // From number 16 on a tag has two bytes.
        var writer = WireWriter()
        writer.writeField(Proto.Request.listen, value)
        #expect(writer.bytes.count == WireSize.field(Proto.Request.listen, value))
    }
}
