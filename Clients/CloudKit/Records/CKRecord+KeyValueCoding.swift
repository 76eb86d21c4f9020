import CoreLocation
import Foundation

// Key-value coding, as `NSObject` has it on Apple's systems.
extension CKRecord {
    /// Sets the value of a field, as key-value coding does on Apple's systems.
    ///
    /// An array of any elements is taken as one of their type. A value of a type that fields can't
    /// have is refused when the record is saved.
    ///
    /// - Parameters:
    ///   - value: The value. If `nil`, the field is removed.
    ///   - key: The name of a field; under `parent` a reference sets the parent.
    public func setValue(_ value: Any?, forKey key: String) {
        let value = value.flatMap { Self.unwrapped($0) }
        let isParent = key == "parent" && self.object(forKey: key) == nil
        switch value {
        case let parent as CKReference where key == "parent": self.parent = parent
        case nil where isParent: self.parent = nil
        case nil: self.setObject(nil, forKey: key)
        case let object as any __CKRecordObjCValue: self.setObject(object, forKey: key)
        case let elements as [Any]: self.setObject(NSArray(array: elements), forKey: key)
        case let value?: self.refuse(value, forKey: key)
        }
    }

    /// Returns the value of a field; if there is no such field, the system property of that name.
    ///
    /// - Parameter key: The name of a field or of a system property, as `recordID`.
    /// - Returns: The value; `nil` if there is none, also for an unknown key.
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

    /// Returns the value under several keys, one in the other.
    ///
    /// After the record's own keys it knows the properties of IDs, references, assets and
    /// locations, and the keys of dictionaries.
    ///
    /// - Parameter keyPath: Keys with dots between them, as `recordID.recordName`.
    /// - Returns: The value; `nil` if there is none.
    public func value(forKeyPath keyPath: String) -> Any? {
        var found: Any? = self
        for key in keyPath.split(separator: ".", omittingEmptySubsequences: false) {
            found = Self.value(forKey: String(key), of: found)
        }
        return found
    }

    /// Sets the values of several fields; see `setValue(_:forKey:)`.
    ///
    /// - Parameter keyedValues: The values by name of field; `NSNull` removes a field.
    public func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { self.setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// Returns the values under several keys; see `value(forKey:)`.
    ///
    /// - Parameter keys: Names of fields or of system properties.
    /// - Returns: A value for each key; `NSNull` if there is none.
    public func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(
            keys.map { ($0, self.value(forKey: $0) ?? NSNull()) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Returns what an optional in an `Any` holds.
    private static func unwrapped(_ value: Any) -> Any? {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional else { return value }
        return mirror.children.first.flatMap { self.unwrapped($0.value) }
    }

    private static func value(forKey key: String, of object: Any?) -> Any? {
        switch (object, key) {
        case (let record as CKRecord, _): record.value(forKey: key)
        case (let id as CKRecordID, "recordName"): id.recordName
        case (let id as CKRecordID, "zoneID"): id.zoneID
        case (let id as CKRecordZoneID, "zoneName"): id.zoneName
        case (let id as CKRecordZoneID, "ownerName"): id.ownerName
        case (let reference as CKReference, "recordID"): reference.recordID
        case (let asset as CKAsset, "fileURL"): asset.fileURL
        case (let location as CLLocation, "coordinate"): location.coordinate
        case (let location as CLLocation, "altitude"): location.altitude
        case (let location as CLLocation, "timestamp"): location.timestamp
        case (let dictionary as [String: Any], _): dictionary[key]
        default: nil
        }
    }
}
