import NIOCore
import RecordModel

extension ExplainRecord {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, id: .unnamed)
        var scope: UInt32 = 0
        while let field = try message.next(Proto.ExplainRecord.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .id: try self.id.merge(message.message())
            }
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.ExplainRecord.scope, self.scope.number)
        buffer.writeMessage(Proto.ExplainRecord.id) { self.id.encode(into: &$0) }
    }
}

extension RecordExplanation {
    init(_ message: consuming MessageReader) throws(WireError) {
        var record: Record?
        var position: Int64 = 0
        var access: [Access] = []
        var matches: [Match] = []
        var deliveries: [Delivery] = []
        var isTruncated = false
        while let field = try message.next(Proto.RecordExplanation.self) {
            switch field {
            case .record: record = try Record(message.message())
            case .position: position = try message.int64()
            case .access: access.append(try Access(message.message()))
            case .subscriptions: matches.append(try Match(message.message()))
            case .deliveries: deliveries.append(try Delivery(message.message()))
            case .truncated: isTruncated = try message.bool()
            }
            guard matches.count <= Bounds.explainedMax, deliveries.count <= Bounds.explainedMax,
                access.count <= ClientBounds.accessRowsMax
            else { throw WireError(.outOfBounds, field: "explanation") }
        }
        guard let record else { throw WireError(.missing, field: "record") }
        self.init(
            record: record,
            position: position,
            access: access,
            matches: matches,
            deliveries: deliveries,
            isTruncated: isTruncated
        )
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeMessage(Proto.RecordExplanation.record) { self.record.encode(into: &$0) }
        buffer.writeField(Proto.RecordExplanation.position, self.position)
        for line in self.access {
            buffer.writeMessage(Proto.RecordExplanation.access) { line.encode(into: &$0) }
        }
        for match in self.matches {
            buffer.writeMessage(Proto.RecordExplanation.subscriptions) { match.encode(into: &$0) }
        }
        for delivery in self.deliveries {
            buffer.writeMessage(Proto.RecordExplanation.deliveries) { delivery.encode(into: &$0) }
        }
        buffer.writeField(Proto.RecordExplanation.truncated, self.isTruncated)
    }
}

extension RecordExplanation.Access {
    fileprivate init(_ message: consuming MessageReader) throws(WireError) {
        self.init(who: "", may: [], why: "")
        while let field = try message.next(Proto.ExplainedAccess.self) {
            switch field {
            case .who: self.who = try message.text()
            case .may: self.may = RecordExplanation.Rights(rawValue: try message.uint32())
            case .why: self.why = try message.text()
            }
        }
    }

    fileprivate func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.ExplainedAccess.who, self.who)
        buffer.writeField(Proto.ExplainedAccess.may, self.may.rawValue)
        buffer.writeField(Proto.ExplainedAccess.why, self.why)
    }
}

extension RecordExplanation.Match {
    fileprivate init(_ message: consuming MessageReader) throws(WireError) {
        self.init(subscriptionID: "", userRecordName: "", isMatch: false, why: "")
        while let field = try message.next(Proto.ExplainedSubscription.self) {
            switch field {
            case .subscriptionID: self.subscriptionID = try message.text()
            case .userRecordName: self.userRecordName = try message.text()
            case .matches: self.isMatch = try message.bool()
            case .why: self.why = try message.text()
            }
        }
    }

    fileprivate func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.ExplainedSubscription.subscriptionID, self.subscriptionID)
        buffer.writeField(Proto.ExplainedSubscription.userRecordName, self.userRecordName)
        buffer.writeField(Proto.ExplainedSubscription.matches, self.isMatch)
        buffer.writeField(Proto.ExplainedSubscription.why, self.why)
    }
}

extension RecordExplanation.Delivery {
    /// An unknown state reads as `unknown`.
    fileprivate init(_ message: consuming MessageReader) throws(WireError) {
        self.init(installation: [], userRecordName: "", state: .unknown)
        while let field = try message.next(Proto.ExplainedDelivery.self) {
            switch field {
            case .installationID: self.installation = try message.bytes()
            case .userRecordName: self.userRecordName = try message.text()
            case .state: self.state = UInt8(exactly: try message.varint()).flatMap(State.init) ?? .unknown
            case .changesBehind: self.changesBehind = try message.varint()
            case .position: self.position = try message.int64()
            case .seenMs: self.seenMilliseconds = try message.int64()
            case .why: self.why = try message.text()
            }
        }
        guard self.installation.isEmpty || self.installation.count == 16 else {
            throw WireError(.outOfBounds, field: "installation_id")
        }
    }

    fileprivate func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.ExplainedDelivery.installationID, self.installation)
        buffer.writeField(Proto.ExplainedDelivery.userRecordName, self.userRecordName)
        buffer.writeField(Proto.ExplainedDelivery.state, UInt32(self.state.rawValue))
        buffer.writeField(Proto.ExplainedDelivery.changesBehind, self.changesBehind)
        buffer.writeField(Proto.ExplainedDelivery.position, self.position)
        buffer.writeField(Proto.ExplainedDelivery.seenMs, self.seenMilliseconds)
        buffer.writeField(Proto.ExplainedDelivery.why, self.why)
    }
}
