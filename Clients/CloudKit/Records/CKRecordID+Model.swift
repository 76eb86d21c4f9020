package import RecordModel

extension CKRecordID {
    /// Makes an ID from the model's.
    package convenience init(_ id: RecordID) {
        self.init(storing: id.recordName, zoneID: CKRecordZoneID(id.zone))
    }

    /// Returns this ID if it has the name and the zone; `nil` if it is of another record.
    func ifSame(as name: String, in zoneID: CKRecordZoneID) -> CKRecordID? {
        let isSame = ExactName(self.recordName) == ExactName(name)
        return isSame && (self.zoneID === zoneID || self.zoneID == zoneID) ? self : nil
    }

    /// The model's ID.
    package var model: RecordID {
        RecordID(zone: self.zoneID.model, recordName: self.recordName)
    }

    /// Whether no two IDs are of the same record.
    ///
    /// Nearly always all have the same zone, and their names alone are hashed.
    static func areDistinct(_ ids: [CKRecordID]) -> Bool {
        guard ids.count > 1, let zoneID = ids.first?.zoneID else { return true }
        guard ids.allSatisfy({ $0.zoneID === zoneID }) else {
            return Set(ids.map(\.model)).count == ids.count
        }
        return Set(ids.map { ExactName($0.recordName) }).count == ids.count
    }
}
