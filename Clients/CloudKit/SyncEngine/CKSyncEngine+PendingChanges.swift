extension CKSyncEngine {
    /// A change of a record that waits to be sent.
    ///
    /// The record itself is asked for when it is sent.
    public enum PendingRecordZoneChange: Hashable, Sendable, CustomStringConvertible {
        /// The record is to be saved.
        case saveRecord(CKRecord.ID)
        /// The record is to be deleted.
        case deleteRecord(CKRecord.ID)

        /// The record that the change is about.
        var recordID: CKRecord.ID {
            switch self {
            case .saveRecord(let id), .deleteRecord(let id): id
            }
        }

        /// The change for people to read.
        public var description: String {
            switch self {
            case .saveRecord(let id): "saveRecord(\(id.label))"
            case .deleteRecord(let id): "deleteRecord(\(id.label))"
            }
        }
    }

    /// A change of a zone that waits to be sent.
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

        /// The zone that the change is about.
        var zoneID: CKRecordZone.ID {
            switch self {
            case .saveZone(let zone): zone.zoneID
            case .deleteZone(let id): id
            }
        }

        /// The change for people to read.
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
    /// The ID in the descriptions of the sync engine: the name, and the owner unless it is the user.
    var label: String {
        self.ownerName == CKCurrentUserDefaultName ? self.zoneName : "\(self.ownerName):\(self.zoneName)"
    }
}
