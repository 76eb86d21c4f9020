import NIOCore

/// What a request is known by when its client makes it again, with another ID and on whichever connection: a hash of what is asked for.
///
/// Of a large request the beginning, the end and the size count. Two requests with one mark share a reservation, which harms nobody but who makes them.
struct RequestMark: Hashable {
    static let none = RequestMark(value: 0)

    private static let beginningBytes = 1_024
    private static let endBytes = 64

    let value: UInt64

    private init(value: UInt64) { self.value = value }

    /// - Parameters:
    ///   - payload: An encoded `Request`; its ID and its deadline do not count where they come first, as our clients send them.
    ///   - installation: Of the client.
    init(_ payload: ByteBuffer, installation: [UInt8]) {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        for byte in installation { Self.mix(UInt64(byte), into: &hash) }
        let asked = Self.operation(of: payload)
        Self.mix(UInt64(asked.count), into: &hash)
        Self.mix(asked.prefix(Self.beginningBytes), into: &hash)
        Self.mix(asked.dropFirst(Self.beginningBytes).suffix(Self.endBytes), into: &hash)
        self.value = max(hash, 1)
    }

    /// The payload without the ID and the deadline before it.
    private static func operation(of payload: ByteBuffer) -> ByteBufferView {
        var rest = payload.readableBytesView
        if rest.count > 18, rest.starts(with: [0x0A, 16]) { rest = rest.dropFirst(18) }
        if rest.first == 0x10 { rest = rest.dropFirst().drop { $0 >= 0x80 }.dropFirst() }
        return rest
    }

    private static func mix(_ bytes: ByteBufferView, into hash: inout UInt64) {
        var word: UInt64 = 0
        for (place, byte) in bytes.enumerated() {
            word = word << 8 | UInt64(byte)
            if place & 7 == 7 { Self.mix(word, into: &hash) }
        }
        Self.mix(word, into: &hash)
    }

    private static func mix(_ word: UInt64, into hash: inout UInt64) {
        hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
        hash ^= hash >> 32
    }
}
