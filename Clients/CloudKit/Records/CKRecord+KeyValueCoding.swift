import Foundation
import Synchronization

extension CKRecord {
    /// Sets the value of a field, as key-value coding does on Apple's systems; `nil` removes the
    /// field.
    ///
    /// A value of a type that fields can't have is refused when the record is saved.
    public func setValue(_ value: Any?, forKey key: String) {
        guard let value else { return self.setObject(nil, forKey: key) }
        if key == "parent", let parent = value as? CKReference {
            self.parent = parent
        } else if let object = value as? any __CKRecordObjCValue {
            self.setObject(object, forKey: key)
        } else {
            let text = "A field can't hold a value of the type \(type(of: value))"
            self.state.withLock { $0.table.refuse(key, because: text) }
        }
    }

    /// Returns the value of a field; if there is no such field, the system property of that name.
    public func value(forKey key: String) -> Any? {
        if let object = self.object(forKey: key) { return object }
        return switch key {
        case "recordID": self.recordID
        case "recordType": self.recordType
        case "recordChangeTag": self.recordChangeTag
        case "creatorUserRecordID": self.creatorUserRecordID
        case "creationDate": self.creationDate
        case "lastModifiedUserRecordID": self.lastModifiedUserRecordID
        case "modificationDate": self.modificationDate
        case "parent": self.parent
        case "share": self.share
        default: nil
        }
    }
}
