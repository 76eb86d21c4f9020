package import RecordModel

extension CKRecordID {
    /// Makes an ID from the model's.
    package convenience init(_ id: RecordID) {
        self.init(storing: id.recordName, zoneID: CKRecordZoneID(id.zone))
    }

    /// Returns this ID if it is the model's; `nil` if it is of another record.
    func ifSame(as id: RecordID) -> CKRecordID? {
        ExactName.areSame(self.recordName, id.recordName) && self.zoneID.model == id.zone ? self : nil
    }

    /// The model's ID.
    package var model: RecordID {
        RecordID(zone: self.zoneID.model, recordName: self.recordName)
    }
}
