package import NIOCore
package import RecordModel

extension ModifySubscriptions {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, saves: [])
        var scope: UInt32 = 0
        while let tag = try message.tag() {
            switch tag {
            case 0x08: scope = try message.uint32()
            case 0x12: self.saves.append(try Subscription(message.message()))
            case 0x1A: self.deletes.append(try message.text())
            default: try message.skip(tag)
            }
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.scope.number)
        for subscription in self.saves { buffer.writeMessage(2) { subscription.encode(into: &$0) } }
        for id in self.deletes { buffer.writeElement(3, id) }
    }
}

extension FetchSubscriptions {
    init(_ message: consuming MessageReader) throws(WireError) {
        var scope: UInt32 = 0
        var ids: [String] = []
        var isAll = false
        while let tag = try message.tag() {
            switch tag {
            case 0x08: scope = try message.uint32()
            case 0x12: ids.append(try message.text())
            case 0x18: isAll = try message.varint() != 0
            default: try message.skip(tag)
            }
        }
        guard !isAll || ids.isEmpty else { throw WireError(.refused(.invalidArguments), field: "ids") }
        self.init(scope: try DatabaseScope(number: scope), selection: isAll ? .all : .ids(ids))
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.scope.number)
        switch self.selection {
        case .all: buffer.writeField(3, true)
        case .ids(let ids): for id in ids { buffer.writeElement(2, id) }
        }
    }
}

extension Subscription {
    /// Reads a subscription that stands alone: in a store, say.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        self = try payload.reading("subscription") { message throws(WireError) in
            try Subscription(message)
        }
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer()
        self.encode(into: &buffer)
        return buffer
    }

    /// Reads one that a server sent.
    init(ofServer message: consuming MessageReader) throws(WireError) {
        do throws(WireError) {
            self = try Subscription(message)
        } catch {
            throw error.ofServer
        }
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        guard message.count <= Bounds.subscriptionBytesMax else {
            throw WireError(.refused(.limitExceeded), field: "subscription")
        }
        var id = ""
        var kind: Kind?
        var info: NotificationInfo?
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: id = try message.text()
            case 0x12: kind = try Kind(query: message.message())
            case 0x1A: kind = try Kind(zone: message.message())
            case 0x22: kind = try Kind(database: message.message())
            case 0x2A: info = try NotificationInfo(message.message())
            default: try message.skip(tag)
            }
        }
        guard let kind else { throw WireError(.refused(.invalidArguments), field: "kind") }
        self.init(id: id, kind: kind, info: info)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(1, self.id)
        switch self.kind {
        case .query(let recordType, let predicate, let zone, let firesOn):
            buffer.writeMessage(2) {
                $0.writeField(1, recordType)
                if predicate != .all { $0.writeMessage(2) { predicate.encode(into: &$0) } }
                if let zone { $0.writeMessage(3) { zone.encode(into: &$0) } }
                $0.writeField(4, firesOn.rawValue)
            }
        case .zone(let zone, let recordType):
            buffer.writeMessage(3) {
                $0.writeMessage(1) { zone.encode(into: &$0) }
                $0.writeField(2, recordType ?? "")
            }
        case .database(let recordType):
            buffer.writeMessage(4) { $0.writeField(1, recordType ?? "") }
        }
        if let info { buffer.writeMessage(5) { info.encode(into: &$0) } }
    }
}

extension Subscription.Kind {
    fileprivate init(query message: consuming MessageReader) throws(WireError) {
        var recordType = ""
        var predicate = Predicate.all
        var zone: ZoneID?
        var firesOn = Subscription.FiresOn()
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: recordType = try message.text()
            case 0x12: predicate = try Predicate(bounded: message.message())
            case 0x1A: zone = try ZoneID(message.message())
            case 0x20: firesOn = Subscription.FiresOn(rawValue: try message.uint32())
            default: try message.skip(tag)
            }
        }
        guard firesOn.isSubset(of: .all), !firesOn.isDisjoint(with: .events) else {
            throw WireError(.refused(.invalidArguments), field: "fires_on")
        }
        self = .query(recordType: recordType, predicate: predicate, zone: zone, firesOn: firesOn)
    }

    fileprivate init(zone message: consuming MessageReader) throws(WireError) {
        var zone: ZoneID?
        var recordType = ""
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: zone = try ZoneID(message.message())
            case 0x12: recordType = try message.text()
            default: try message.skip(tag)
            }
        }
        guard let zone else { throw WireError(.refused(.invalidArguments), field: "zone") }
        self = .zone(zone, recordType: recordType.isEmpty ? nil : recordType)
    }

    fileprivate init(database message: consuming MessageReader) throws(WireError) {
        var recordType = ""
        while let tag = try message.tag() {
            switch tag {
            case 0x0A: recordType = try message.text()
            default: try message.skip(tag)
            }
        }
        self = .database(recordType: recordType.isEmpty ? nil : recordType)
    }
}
