package import NIOCore
package import RecordModel

extension ModifySubscriptions {
    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(scope: .private, saves: [])
        var scope: UInt32 = 0
        while let field = try message.next(Proto.ModifySubscriptions.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .saves: self.saves.append(try Subscription(message.message()))
            case .deletes: self.deletes.append(try message.text())
            }
        }
        self.scope = try DatabaseScope(number: scope)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.ModifySubscriptions.scope, self.scope.number)
        for subscription in self.saves {
            buffer.writeMessage(Proto.ModifySubscriptions.saves) { subscription.encode(into: &$0) }
        }
        for id in self.deletes { buffer.writeElement(Proto.ModifySubscriptions.deletes, id) }
    }
}

extension FetchSubscriptions {
    init(_ message: consuming MessageReader) throws(WireError) {
        var scope: UInt32 = 0
        var ids: [String] = []
        var isAll = false
        while let field = try message.next(Proto.FetchSubscriptions.self) {
            switch field {
            case .scope: scope = try message.uint32()
            case .ids: ids.append(try message.text())
            case .all: isAll = try message.bool()
            }
        }
        guard !isAll || ids.isEmpty else { throw WireError(.refused(.invalidArguments), field: "ids") }
        self.init(scope: try DatabaseScope(number: scope), selection: isAll ? .all : .ids(ids))
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.FetchSubscriptions.scope, self.scope.number)
        switch self.selection {
        case .all: buffer.writeField(Proto.FetchSubscriptions.all, true)
        case .ids(let ids): for id in ids { buffer.writeElement(Proto.FetchSubscriptions.ids, id) }
        }
    }
}

extension Subscription {
    /// Reads a subscription outside a request, as in a store.
    package init(decoding payload: ByteBuffer) throws(WireError) {
        try self.init(MessageReader(payload, "subscription"))
    }

    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer.forMessage
        self.encode(into: &buffer)
        return buffer
    }

    /// Reads a subscription from a server.
    init(ofServer message: consuming MessageReader) throws(WireError) {
        do throws(WireError) {
            self = try Subscription(message)
        } catch {
            throw error.ofServer
        }
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        guard message.range.count <= Bounds.subscriptionBytesMax else {
            throw WireError(.refused(.limitExceeded), field: "subscription")
        }
        var id = ""
        var kind: Kind?
        var info: NotificationInfo?
        while let field = try message.next(Proto.Subscription.self) {
            switch field {
            case .id: id = try message.text()
            case .query: kind = try Kind(query: message.message())
            case .zone: kind = try Kind(zone: message.message())
            case .database: kind = try Kind(database: message.message())
            case .info: info = try NotificationInfo(message.message())
            }
        }
        guard let kind else { throw WireError(.refused(.invalidArguments), field: "kind") }
        self.init(id: id, kind: kind, info: info)
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeField(Proto.Subscription.id, self.id)
        switch self.kind {
        case .query(let recordType, let predicate, let zone, let firesOn):
            buffer.writeMessage(Proto.Subscription.query) {
                $0.writeField(Proto.QuerySubscription.recordType, recordType)
                if predicate != .all {
                    $0.writeMessage(Proto.QuerySubscription.predicate) { predicate.encode(into: &$0) }
                }
                if let zone { $0.writeMessage(Proto.QuerySubscription.zone) { zone.encode(into: &$0) } }
                $0.writeField(Proto.QuerySubscription.firesOn, firesOn.rawValue)
            }
        case .zone(let zone, let recordType):
            buffer.writeMessage(Proto.Subscription.zone) {
                $0.writeMessage(Proto.ZoneSubscription.zone) { zone.encode(into: &$0) }
                $0.writeField(Proto.ZoneSubscription.recordType, recordType ?? "")
            }
        case .database(let recordType):
            buffer.writeMessage(Proto.Subscription.database) {
                $0.writeField(Proto.DatabaseSubscription.recordType, recordType ?? "")
            }
        }
        if let info { buffer.writeMessage(Proto.Subscription.info) { info.encode(into: &$0) } }
    }
}

extension Subscription.Kind {
    fileprivate init(query message: consuming MessageReader) throws(WireError) {
        var recordType = ""
        var predicate = Predicate.all
        var zone: ZoneID?
        var firesOn = Subscription.FiresOn()
        while let field = try message.next(Proto.QuerySubscription.self) {
            switch field {
            case .recordType: recordType = try message.text()
            case .predicate: predicate = try Predicate(bounded: message.message())
            case .zone: zone = try ZoneID(message.message())
            case .firesOn: firesOn = Subscription.FiresOn(rawValue: try message.uint32())
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
        while let field = try message.next(Proto.ZoneSubscription.self) {
            switch field {
            case .zone: zone = try ZoneID(message.message())
            case .recordType: recordType = try message.text()
            }
        }
        guard let zone else { throw WireError(.refused(.invalidArguments), field: "zone") }
        self = .zone(zone, recordType: recordType.isEmpty ? nil : recordType)
    }

    fileprivate init(database message: consuming MessageReader) throws(WireError) {
        var recordType = ""
        while let field = try message.next(Proto.DatabaseSubscription.self) {
            switch field {
            case .recordType: recordType = try message.text()
            }
        }
        self = .database(recordType: recordType.isEmpty ? nil : recordType)
    }
}
