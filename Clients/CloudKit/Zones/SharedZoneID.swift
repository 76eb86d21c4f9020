internal import RecordModel
private import Synchronization

/// One object for the zone of many records.
final class SharedZoneID: Sendable {
    private let last = Mutex<(zone: ZoneID, id: CKRecordZoneID)?>(nil)

    /// Returns the ID of a record, with the zone's object of earlier IDs.
    func recordID(_ id: RecordID) -> CKRecordID {
        let zoneID = self.last.withLock { last in
            if let last, last.zone == id.zone { return last.id }
            let zoneID = CKRecordZoneID(id.zone)
            last = (id.zone, zoneID)
            return zoneID
        }
        return CKRecordID(storing: id.recordName, zoneID: zoneID)
    }
}
