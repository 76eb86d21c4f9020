import Foundation

/// The fields of a record that are marked as encrypted.
final class EncryptedValues: NSObject, CKRecordKeyValueSetting {
    let record: CKRecord

    init(of record: CKRecord) {
        self.record = record
        super.init()
    }

    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        self.record.object(forKey: key, encrypted: true)
    }

    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey) {
        self.record.setObject(object, forKey: key, encrypted: true)
    }

    subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        get { self.object(forKey: key) }
        set { self.setObject(newValue, forKey: key) }
    }

    func allKeys() -> [CKRecord.FieldKey] { self.record.encryptedKeys }

    func changedKeys() -> [CKRecord.FieldKey] { self.record.changedEncryptedKeys }
}

// SAFETY: the only stored property is a constant, and records are Sendable.
extension EncryptedValues: @unchecked Sendable {}
