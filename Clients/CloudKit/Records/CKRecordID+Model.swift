package import RecordModel

extension CKRecordID {
    /// Makes an ID from the model's.
    package convenience init(_ id: RecordID) {
        self.init(storing: id.recordName, zoneID: CKRecordZoneID(id.zone))
    }

    /// The model's ID.
    package var model: RecordID {
        RecordID(zone: self.zoneID.model, recordName: self.recordName)
    }
}
