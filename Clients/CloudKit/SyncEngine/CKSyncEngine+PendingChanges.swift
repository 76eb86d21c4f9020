extension CKSyncEngine {
    /// A change of a record that is still to be sent.
    ///
    /// The engine asks for the record when it sends the change.
    public enum PendingRecordZoneChange: Hashable, Sendable, CustomStringConvertible {
        /// The record is to be saved.
        case saveRecord(CKRecord.ID)
        /// The record is to be deleted.
        case deleteRecord(CKRecord.ID)

        /// The ID of the record.
        var recordID: CKRecord.ID {
            switch self {
            case .saveRecord(let id), .deleteRecord(let id): id
            }
        }

        /// A description of the change for people.
        public var description: String {
            switch self {
            case .saveRecord(let id): "saveRecord(\(id.label))"
            case .deleteRecord(let id): "deleteRecord(\(id.label))"
            }
        }
    }

    /// A change of a zone that is still to be sent.
    public enum PendingDatabaseChange: Hashable, Sendable, CustomStringConvertible {
        /// The zone is to be created.
        case saveZone(CKRecordZone)
        /// The zone is to be deleted, with everything in it.
        case deleteZone(CKRecordZone.ID)

        var isSave: Bool {
            switch self {
            case .saveZone: true
            case .deleteZone: false
            }
        }

        /// The ID of the zone.
        var zoneID: CKRecordZone.ID {
            switch self {
            case .saveZone(let zone): zone.zoneID
            case .deleteZone(let id): id
            }
        }

        /// A description of the change for people.
        public var description: String {
            switch self {
            case .saveZone(let zone): "saveZone(\(zone.zoneID.label))"
            case .deleteZone(let id): "deleteZone(\(id.label))"
            }
        }
    }
}

extension CKRecordID {
    /// The ID in the descriptions of the sync engine: zone and name.
    var label: String { "\(self.zoneID.label)/\(self.recordName)" }
}

extension CKRecordZoneID {
    /// The ID in the descriptions of the sync engine: the name, and the owner unless it is the
    /// user.
    var label: String {
        self.ownerName == CKCurrentUserDefaultName ? self.zoneName : "\(self.ownerName):\(self.zoneName)"
    }
}
