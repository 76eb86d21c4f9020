package import RecordModel

extension CKRecordZoneID {
    /// Makes an ID from the model's, in which an empty owner name means the requesting user.
    package convenience init(_ zone: ZoneID) {
        self.init(
            storing: zone.zoneName,
            ownerName: zone.ownerName.isEmpty ? CKCurrentUserDefaultName : zone.ownerName
        )
    }

    /// The model's ID.
    package var model: ZoneID {
        ZoneID(
            zoneName: self.zoneName,
            ownerName: self.ownerName == CKCurrentUserDefaultName ? "" : self.ownerName
        )
    }
}
