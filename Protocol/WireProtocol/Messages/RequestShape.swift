package import NIOCore

/// How many items an encoded `Request` names, read from its tags and lengths alone.
///
/// The smallest item takes two bytes and, decoded, some hundred: so counting comes before decoding. Nothing is checked but
/// what is needed to walk; bytes that cannot be walked are left for the decoder to refuse.
package struct RequestShape {
    /// Saves and deletes, or IDs.
    package private(set) var itemCount = 0
    /// Desired keys of a fetch of records.
    private(set) var desiredKeyCount = 0

    package init(_ payload: ByteBuffer) {
        var request = payload
        while let (number, contents) = request.readField() {
            guard (16...19).contains(number), var operation = contents else { continue }
            self.count(in: &operation, isRecordFetch: number == 17)
        }
    }

    /// Fields 2 and 3 of every operation are its items, but for the desired keys of a fetch of records.
    private mutating func count(in operation: inout ByteBuffer, isRecordFetch: Bool) {
        while let (number, contents) = operation.readField() {
            guard var contents else { continue }
            switch number {
            case 2: self.itemCount += 1
            case 3 where isRecordFetch:
                while contents.readField() != nil { self.desiredKeyCount += 1 }
            case 3: self.itemCount += 1
            default: break
            }
        }
    }
}

extension ByteBuffer {
    /// Takes a field off the front of an encoded message; its contents only when it is length-delimited.
    ///
    /// `nil` at the end and where no field can be read.
    fileprivate mutating func readField() -> (number: UInt64, contents: ByteBuffer?)? {
        guard let tag = self.readVarint() else { return nil }
        switch tag & 7 {
        case 0: return self.readVarint().map { _ in (tag >> 3, nil) }
        case 1: return self.readSlice(length: 8).map { _ in (tag >> 3, nil) }
        case 2:
            guard let length = self.readVarint(), length <= self.readableBytes else { return nil }
            return self.readSlice(length: Int(length)).map { (tag >> 3, $0) }
        case 5: return self.readSlice(length: 4).map { _ in (tag >> 3, nil) }
        default: return nil
        }
    }

    private mutating func readVarint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = self.readInteger(as: UInt8.self) else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}
