package import NIOCore

/// How many items an encoded `Request` names, read from its tags and lengths alone.
///
/// The smallest item takes two bytes and, decoded, some hundred: so counting comes before decoding.
/// Nothing is checked but what is needed to walk; bytes that cannot be walked are left for the
/// decoder to refuse.
package struct RequestShape {
    /// Saves and deletes, or IDs.
    ///
    /// Queries and feeds name none.
    package private(set) var itemCount = 0
    /// Desired keys of a fetch of records or of shares, a query or a feed.
    private(set) var desiredKeyCount = 0
    /// Whether records, zones or subscriptions are saved or deleted.
    package private(set) var isChange = false

    package init(_ payload: ByteBuffer) {
        // Where the walk ends, the decoder's ends too.
        try? payload.reading("request") { message throws(WireError) in
            while let tag = try message.tag() {
                switch tag {
                case 0x82, 0x92, 0xCA:
                    self.isChange = true
                    try self.count(in: message.message())
                case 0x9A, 0xD2, 0xE2, 0xEA, 0xF2, 0x102, 0x10A:
                    try self.count(in: message.message())
                case 0x8A: try self.count(in: message.message(), keysAt: 0x1A)
                case 0xFA: try self.count(in: message.message(), keysAt: 0x2A)
                case 0xA2: try self.countKeys(of: message.message(), at: 0x2A)
                case 0xB2: try self.countKeys(of: message.message(), at: 0x22)
                default: try message.skip(tag)
                }
            }
        }
    }

    /// Fields 2 and 3 of an operation with items are these; of one with desired keys, field 2.
    private mutating func count(
        in operation: consuming MessageReader,
        keysAt keysTag: UInt64? = nil
    ) throws(WireError) {
        while let tag = try operation.tag() {
            switch tag {
            case 0x12: self.itemCount += 1
            case keysTag:
                try self.countKeys(in: operation.message())
                continue
            case 0x1A where keysTag == nil: self.itemCount += 1
            default: break
            }
            try operation.skip(tag)
        }
    }

    private mutating func countKeys(
        of operation: consuming MessageReader,
        at keysTag: UInt64
    ) throws(WireError) {
        while let tag = try operation.tag() {
            if tag == keysTag {
                try self.countKeys(in: operation.message())
            } else {
                try operation.skip(tag)
            }
        }
    }

    private mutating func countKeys(in keys: consuming MessageReader) throws(WireError) {
        while let tag = try keys.tag() {
            self.desiredKeyCount += 1
            try keys.skip(tag)
        }
    }
}
