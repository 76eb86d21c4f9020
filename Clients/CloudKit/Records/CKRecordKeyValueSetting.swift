public import Foundation

/// Fields by key: those of a record, or the encrypted ones among them.
public protocol CKRecordKeyValueSetting: NSObjectProtocol {
    /// Returns the value of a field; `nil` if the field has none here.
    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)?

    /// Sets the value of a field; `nil` removes the field.
    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey)

    /// The value of a field.
    subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? { get set }

    /// Returns the keys that have values here.
    func allKeys() -> [CKRecord.FieldKey]

    /// Returns the keys that were set or removed here since the record was fetched or saved.
    func changedKeys() -> [CKRecord.FieldKey]
}

extension CKRecordKeyValueSetting {
    /// The value of a field as a type; `nil` if it is absent or of another type.
    public subscript<T: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> T? {
        get { self.object(forKey: key) as? T }
        set { self.setObject(newValue as? any __CKRecordObjCValue, forKey: key) }
    }

    /// The value of a field, in generic code.
    public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        get { self.object(forKey: key) }
        set { self.setObject(newValue as? any __CKRecordObjCValue, forKey: key) }
    }
}
