package import RecordModel

extension CKRecordZone {
    /// Makes the zone that a server returned.
    package convenience init(_ zone: Zone) {
        self.init(
            storing: CKRecordZoneID(zone.id),
            capabilities: Capabilities(rawValue: UInt(zone.capabilities.rawValue)),
            share: zone.share
        )
        self.encryptionScope = zone.encryptionScope == .perZone ? .perZone : .perRecord
    }
}

extension EncryptionScope {
    init(_ scope: CKRecordZone.EncryptionScope) { self = scope == .perZone ? .perZone : .perRecord }
}
