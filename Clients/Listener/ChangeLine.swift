import CloudKit

/// A fetched change, as a line of output.
enum ChangeLine {
    case saved(CKRecord)
    case deleted(CKRecord.ID, CKRecord.RecordType)
    /// The record matched the query, and no longer does after a change.
    case left(CKRecord.ID, CKRecord.RecordType)
    case zoneChanged(CKRecordZone.ID)
    case zoneDeleted(CKRecordZone.ID)

    var json: String {
        let parts: [String: JSONValue]
        switch self {
        case .saved(let record):
            var own: [String: JSONValue] = [
                "change": .text("saved"), "zone": .text(record.recordID.zoneID.zoneName),
                "record": .text(record.recordID.recordName), "type": .text(record.recordType),
                "fields": .object(record.jsonFields),
            ]
            own["modified"] = record.modificationDate.map { .text($0.text) }
            parts = own
        case .deleted(let id, let type): parts = Self.parts("deleted", id, type)
        case .left(let id, let type): parts = Self.parts("left", id, type)
        case .zoneChanged(let zone):
            parts = ["change": .text("zoneChanged"), "zone": .text(zone.zoneName)]
        case .zoneDeleted(let zone):
            parts = ["change": .text("zoneDeleted"), "zone": .text(zone.zoneName)]
        }
        return JSONValue.object(parts).line
    }

    private static func parts(
        _ change: String,
        _ id: CKRecord.ID,
        _ type: CKRecord.RecordType
    ) -> [String: JSONValue] {
        [
            "change": .text(change), "zone": .text(id.zoneID.zoneName), "record": .text(id.recordName),
            "type": .text(type),
        ]
    }

    var text: String {
        switch self {
        case .saved(let record):
            "  saved \(record.recordType) \(record.recordID.recordName) in \(record.recordID.zoneID.zoneName)"
                + record.jsonFields.text
        case .deleted(let id, let type): "  deleted \(type) \(id.recordName) in \(id.zoneID.zoneName)"
        case .left(let id, let type): "  left \(type) \(id.recordName) in \(id.zoneID.zoneName)"
        case .zoneChanged(let zone): "  zone \(zone.zoneName) has changes"
        case .zoneDeleted(let zone): "  zone \(zone.zoneName) was deleted"
        }
    }
}

extension CKRecord {
    fileprivate var jsonFields: [String: JSONValue] {
        var fields: [String: JSONValue] = [:]
        for key in self.allKeys() {
            if let value = self[key] { fields[key] = JSONValue(field: value) }
        }
        return fields
    }
}
