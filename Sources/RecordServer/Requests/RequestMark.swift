import NIOCore
import RecordModel

/// A hash that identifies a request when its client retries it, with another ID and on any
/// connection.
///
/// For a large request, the beginning, the end and the size are hashed. Two requests with the same
/// mark share a reservation, which harms only their client.
struct RequestMark: Hashable {
    static let none = RequestMark(value: 0)

    private static let beginningBytes = 1_024
    private static let endBytes = 64

    let value: UInt64

    private init(value: UInt64) { self.value = value }

    /// - Parameters:
    ///   - payload: An encoded `Request`; its ID and its deadline are skipped if they come first,
    ///     as our clients send them.
    ///   - installation: Of the client.
    init(_ payload: ByteBuffer, installation: [UInt8]) {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        for byte in installation { Self.mix(UInt64(byte), into: &hash) }
        let asked = Self.operation(of: payload)..<payload.writerIndex
        Self.mix(UInt64(asked.count), into: &hash)
        let beginning = asked.prefix(Self.beginningBytes)
        Self.mix(payload, beginning, into: &hash)
        Self.mix(payload, asked[beginning.endIndex...].suffix(Self.endBytes), into: &hash)
        self.value = max(hash, 1)
    }

    /// The offset in the payload after the ID and the deadline.
    private static func operation(of payload: ByteBuffer) -> Int {
        var reader = WireReader(payload.readableBytesUInt8Span)
        var start = reader.position
        while let tag = try? reader.tag(),
            tag == Proto.Request.requestID.tag || tag == Proto.Request.deadlineMs.tag,
            (try? reader.skipValue(ofTag: tag)) != nil
        {
            start = reader.position
        }
        return payload.readerIndex + start
    }

    /// Eight bytes at a time: every request is marked while the server is overloaded.
    private static func mix(_ payload: ByteBuffer, _ range: Range<Int>, into hash: inout UInt64) {
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound {
            Self.mix(payload.getInteger(at: offset) ?? 0, into: &hash)
            offset += 8
        }
        while offset < range.upperBound {
            Self.mix(UInt64(payload.getInteger(at: offset, as: UInt8.self) ?? 0), into: &hash)
            offset += 1
        }
    }

    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
        hash ^= hash >> 32
    }
}
