import NIOCore
import RecordModel

extension ZoneID {
    static let unnamed = ZoneID(zoneName: "")

    init(_ message: consuming MessageReader) throws(WireError) {
        self = .unnamed
        try self.merge(message)
    }

    /// A repeated message is merged into the first, if the field is not a list.
    mutating func merge(_ message: consuming MessageReader) throws(WireError) {
        var texts = SharedTexts()
        try self.merge(message, &texts)
    }

    mutating func merge(_ message: consuming MessageReader, _ texts: inout SharedTexts) throws(WireError) {
        while let field = try message.next(Proto.ZoneID.self) {
            switch field {
            case .zoneName: self.zoneName = try message.text(orLast: &texts.zoneName)
            case .ownerName: self.ownerName = try message.text(orLast: &texts.ownerName)
            }
        }
    }

    func encode(into output: inout some WireOutput) {
        output.writeField(Proto.ZoneID.zoneName, self.zoneName)
        output.writeField(Proto.ZoneID.ownerName, self.ownerName)
    }
}

extension RecordID {
    static let unnamed = RecordID(zone: .unnamed, recordName: "")

    init(_ message: consuming MessageReader) throws(WireError) {
        self = .unnamed
        try self.merge(message)
    }

    mutating func merge(_ message: consuming MessageReader) throws(WireError) {
        var texts = SharedTexts()
        try self.merge(message, &texts)
    }

    mutating func merge(_ message: consuming MessageReader, _ texts: inout SharedTexts) throws(WireError) {
        while let field = try message.next(Proto.RecordID.self) {
            switch field {
            case .zone: try self.zone.merge(message.message(), &texts)
            case .recordName: self.recordName = try message.text()
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeMessage(Proto.RecordID.zone) { self.zone.encode(into: &$0) }
        buffer.writeField(Proto.RecordID.recordName, self.recordName)
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
