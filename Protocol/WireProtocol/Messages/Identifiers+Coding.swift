import RecordModel

extension ZoneID {
    init(_ message: PBZoneID) {
        self.init(zoneName: message.zoneName, ownerName: message.ownerName)
    }

    var generated: PBZoneID {
        var message = PBZoneID()
        message.zoneName = self.zoneName
        message.ownerName = self.ownerName
        return message
    }
}

extension RecordID {
    init(_ message: PBRecordID) {
        self.init(zone: ZoneID(message.zone), recordName: message.recordName)
    }

    var generated: PBRecordID {
        var message = PBRecordID()
        message.zone = self.zone.generated
        message.recordName = self.recordName
        return message
    }
}

extension DatabaseScope {
    init(_ message: PBDatabaseScope) throws(WireError) {
        guard let scope = UInt8(exactly: message.rawValue).flatMap(DatabaseScope.init(rawValue:)) else {
            throw WireError(.refused(.invalidArguments), field: "scope")
        }
        self = scope
    }

    var generated: PBDatabaseScope {
        switch self {
        case .public: .public
        case .private: .private
        case .shared: .shared
        }
    }
}
