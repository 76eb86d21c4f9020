// Compiled, not run: initialisers by `Self`, and what Apple's framework exports.
import CloudKit

/// A container, or a double of it for tests.
protocol ContainerMaking {
    static func make(identifier: String) -> Self
}

extension CKContainer: ContainerMaking {
    static func make(identifier: String) -> Self { Self(identifier: identifier) }
}

extension CKRecord.ID {
    static func named(_ name: String) -> Self { Self(recordName: name) }
    static func named(_ name: String, in zoneID: CKRecordZone.ID) -> Self {
        Self(recordName: name, zoneID: zoneID)
    }
}

extension CKRecordZone.ID {
    static func own(_ name: String) -> Self { Self(zoneName: name, ownerName: CKCurrentUserDefaultName) }
}

extension CKRecordZone {
    static func named(_ name: String) -> Self { Self(zoneName: name) }
    static func made(for zoneID: CKRecordZone.ID) -> Self { Self(zoneID: zoneID) }
}

extension CKRecord.Reference {
    static func weak(_ id: CKRecord.ID) -> Self { Self(recordID: id, action: .none) }
    static func weak(to record: CKRecord) -> Self { Self(record: record, action: .none) }
}

extension CKAsset {
    static func of(_ url: URL) -> Self { Self(fileURL: url) }
}

extension CKQuery {
    static func all(_ recordType: CKRecord.RecordType) -> Self {
        Self(recordType: recordType, predicate: NSPredicate(value: true))
    }
}

extension CKRecord {
    static func note(_ title: String) -> Self {
        let record = Self(recordType: "Note")
        record["title"] = title
        return record
    }
    static func note(at id: CKRecord.ID) -> Self { Self(recordType: "Note", recordID: id) }
}

extension CKDatabaseSubscription {
    static func made() -> Self { Self(subscriptionID: "all") }
}

extension CKRecordZoneSubscription {
    static func made(for zoneID: CKRecordZone.ID) -> Self { Self(zoneID: zoneID, subscriptionID: "zone") }
}

extension CKQuerySubscription {
    static func made(for recordType: CKRecord.RecordType) -> Self {
        Self(recordType: recordType, predicate: NSPredicate(value: true), subscriptionID: "query")
    }
}

extension CKOperation {
    static func urgent() -> Self {
        let operation = Self()
        operation.qualityOfService = .userInitiated
        return operation
    }
}

extension CKOperation.Configuration {
    static func patient() -> Self { Self() }
}

extension CKOperationGroup {
    static func named(_ name: String) -> Self {
        let group = Self()
        group.name = name
        return group
    }
}

extension CKSubscription.NotificationInfo {
    static func silent() -> Self {
        let info = Self()
        info.shouldSendContentAvailable = true
        return info
    }
}

extension CKUserIdentity.LookupInfo {
    static func mail(_ address: String) -> Self { Self(emailAddress: address) }
    static func phone(_ number: String) -> Self { Self(phoneNumber: number) }
    static func user(_ id: CKRecord.ID) -> Self { Self(userRecordID: id) }
}

@Observable
final class ObservedNotes {
    var titles: [String] = []

    func follow(_ changed: @escaping @Sendable () -> Void) -> [String] {
        withObservationTracking {
            self.titles
        } onChange: {
            changed()
        }
    }
}

enum KeyValueIdioms {
    static func fill(_ record: CKRecord, width: CGFloat, price: Decimal, parts: [Any]) -> [Any?] {
        record.setValuesForKeys(["name": "desk", "width": width, "price": price, "parts": parts])
        record["width"] = width
        record["price"] = price as CKRecordValue
        record.encryptedValues["height"] = width
        let again: CGFloat? = record["width"]
        let wide = NSPredicate(format: "width > %f OR width > %@", width, width)
        return [
            again, record["width"] as? CGFloat, wide, record.value(forKeyPath: "recordID.recordName"),
            record.dictionaryWithValues(forKeys: ["name", "width"])["width"],
        ]
    }
}
