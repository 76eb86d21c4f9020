import Foundation

/// The fields of a record that are marked as encrypted.
final class EncryptedValues: NSObject, CKRecordKeyValueSetting {
    private let record: CKRecord

    init(of record: CKRecord) {
        self.record = record
        super.init()
    }

    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        self.record.table.object(key, encrypted: true, in: self.record.recordID.zoneID)
    }

    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey) {
        self.record.table.set(key, to: object, encrypted: true, in: self.record.recordID.zoneID.model)
    }

    subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        get { self.object(forKey: key) }
        set { self.setObject(newValue, forKey: key) }
    }

    func allKeys() -> [CKRecord.FieldKey] { self.record.table.keys(encrypted: true) }

    func changedKeys() -> [CKRecord.FieldKey] { self.record.table.changedKeys(encrypted: true) }
}

// SAFETY: the only stored property is a constant; the record behind it is as unsynchronised as ever.
extension EncryptedValues: @unchecked Sendable {}
