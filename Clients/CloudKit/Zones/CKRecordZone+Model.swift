package import RecordModel

extension CKRecordZone {
    /// Makes the zone that a server returned.
    package convenience init(_ zone: Zone) {
        self.init(
            storing: CKRecordZoneID(zone.id),
            capabilities: Capabilities(rawValue: UInt(zone.capabilities.rawValue)),
            share: zone.share
        )
    }
}
