public import Foundation
private import Synchronization

/// Fields by key: those of a record, or the encrypted ones among them.
///
/// - Source: Apple's `CKRecordKeyValueSetting`.
public protocol CKRecordKeyValueSetting: NSObjectProtocol {
    /// Returns the value of a field.
    ///
    /// - Parameter key: The name of a field.
    /// - Returns: The value; `nil` if the field has none here.
    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)?

    /// Sets the value of a field.
    ///
    /// - Parameters:
    ///   - object: A value, or a list of values of one type. If `nil`, the field is removed.
    ///   - key: The name of a field.
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
        set { self.setValue(newValue, key) }
    }

    /// The value of a field, in generic code.
    public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        get { self.object(forKey: key) }
        set { self.setValue(newValue, key) }
    }

    private func setValue(_ value: (any CKRecordValueProtocol)?, _ key: CKRecord.FieldKey) {
        let object = value as? any __CKRecordObjCValue
        // To set nothing in the place of an app's own type would remove the field.
        if let value, object == nil, let record = self as? any ValueRefusing {
            record.refuse(value, forKey: key)
        } else {
            self.setObject(object, forKey: key)
        }
    }
}

/// A record or its encrypted values, which remember a value that no field can have.
protocol ValueRefusing {
    func refuse(_ value: Any, forKey key: CKRecord.FieldKey)
}

extension CKRecord: ValueRefusing {
    func refuse(_ value: Any, forKey key: FieldKey) {
        let name = self.tableKey(of: key)
        self.state.withLock { $0.table.refuse(value, forKey: name) }
    }
}

extension EncryptedValues: ValueRefusing {
    func refuse(_ value: Any, forKey key: CKRecord.FieldKey) { self.record.refuse(value, forKey: key) }
}
