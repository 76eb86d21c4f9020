import NIOCore
package import RecordModel

/// A record as it travels: checked when it comes, and read when somebody asks for it.
package struct RecordMessage: Hashable, Sendable {
    private let payload: ByteBuffer

    /// Encodes a record.
    package init(_ record: Record) {
        var payload = ByteBuffer()
        record.encode(into: &payload)
        self.payload = payload
    }

    /// Checks a part of a payload, which is kept as long as the message.
    init(checking message: consuming MessageReader, in payload: ByteBuffer) throws(WireError) {
        let place = message.place
        try Self.check(message)
        let part = payload.getSlice(at: payload.readerIndex + place.lowerBound, length: place.count)
        self.payload = part ?? ByteBuffer()
    }

    /// Bytes of the message.
    package var byteCount: Int { self.payload.readableBytes }

    package var record: Record {
        do throws(WireError) {
            return try self.payload.reading("record") { message throws(WireError) in
                try Record(message, isChecked: true)
            }
        } catch {
            preconditionFailure("a checked record is malformed: \(error)")
        }
    }

    func append(to buffer: inout ByteBuffer) { buffer.writeImmutableBuffer(self.payload) }

    // MARK: Checks

    /// Finds whatever reading would fail for; makes no text and no array.
    private static func check(_ message: consuming MessageReader) throws(WireError) {
        var hasID = false
        while let tag = try message.tag() {
            switch tag {
            case 0x0A:
                try self.checkID(message.message())
                hasID = true
            case 0x12, 0x1A, 0x32, 0x3A, 0x42: try message.checkText()
            case 0x20, 0x28: _ = try message.int64()
            case 0x4A:
                let fields = try message.lent()
                do throws(BodyError) {
                    try RecordBody.check(fields, allowsClear: false)
                } catch {
                    throw WireError(.malformed, field: "fields")
                }
            default: try message.skip(tag)
            }
        }
        guard hasID else { throw WireError(.missing, field: "id") }
    }

    private static func checkID(_ message: consuming MessageReader) throws(WireError) {
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: try self.checkZone(message.message())
            case 0x12: try message.checkText()
            default: try message.skip(tag)
            }
        }
    }

    private static func checkZone(_ message: consuming MessageReader) throws(WireError) {
        while let tag = try message.tag() {
            switch tag {
            case 0x0A, 0x12: try message.checkText()
            default: try message.skip(tag)
            }
        }
    }
}
