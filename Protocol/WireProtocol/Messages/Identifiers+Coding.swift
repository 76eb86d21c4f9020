import NIOCore
import RecordModel

extension ZoneID {
    static let unnamed = ZoneID(zoneName: "")

    init(_ message: consuming MessageReader) throws(WireError) {
        self = .unnamed
        try self.merge(message)
    }

    /// A message that comes twice where there is one is read into the first.
    mutating func merge(_ message: consuming MessageReader) throws(WireError) {
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: self.zoneName = try message.text()
            case 0x12: self.ownerName = try message.text()
            default: try message.skip(tag)
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.zoneName)
        buffer.writeField(2, self.ownerName)
    }
}

extension RecordID {
    static let unnamed = RecordID(zone: .unnamed, recordName: "")

    init(_ message: consuming MessageReader) throws(WireError) {
        self = .unnamed
        try self.merge(message)
    }

    mutating func merge(_ message: consuming MessageReader) throws(WireError) {
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: try self.zone.merge(message.message())
            case 0x12: self.recordName = try message.text()
            default: try message.skip(tag)
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeMessage(1) { self.zone.encode(into: &$0) }
        buffer.writeField(2, self.recordName)
    }
}

extension DatabaseScope {
    init(number: UInt32) throws(WireError) {
        guard let scope = UInt8(exactly: number).flatMap(DatabaseScope.init(rawValue:)) else {
            throw WireError(.refused(.invalidArguments), field: "scope")
        }
        self = scope
    }

    var number: UInt32 { UInt32(self.rawValue) }
}
