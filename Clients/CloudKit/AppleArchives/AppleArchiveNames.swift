internal import Foundation

/// Registers the classes of this module under the names that Apple's archives use.
///
/// Called when the program is loaded. `Clients/CloudKitRuntime` explains why C has to do this.
@_cdecl("tidemark_register_archive_names")
func registerAppleArchiveNames() {
    for known in AppleArchive.classes { NSKeyedUnarchiver.setClass(known.type, forClassName: known.name) }
}

/// Archives made by Apple's framework, which apps keep from their time on Apple's systems.
///
/// Only the keys that are known are read. Without these names, `NSKeyedUnarchiver(forReadingFrom:)`
/// would end the program at each such archive.
enum AppleArchive {
    /// The classes that are read, by the names that Apple's archives give them.
    static let classes: [(name: String, type: AnyClass)] = [
        ("CKRecord", CKRecord.self), ("CKRecordID", CKRecordID.self),
        ("CKRecordZoneID", CKRecordZoneID.self), ("CKReference", CKReference.self),
        ("CKServerChangeToken", CKServerChangeToken.self), ("CKQueryCursor", CKQueryCursor.self),
        ("CKShare", CKShare.self), ("CKShareParticipant", CKShareParticipant.self),
        ("CKUserIdentity", CKUserIdentity.self),
    ]

    /// The classes that an object may have where another is expected.
    ///
    /// Foundation ends the program at any other class.
    static let classesExpected: [AnyClass] =
        AppleArchive.classes.map { $0.type } + [
            NSString.self, NSNumber.self, NSData.self, NSDate.self, NSArray.self, NSDictionary.self,
            NSURL.self,
        ]
}

extension NSCoder {
    /// Returns the object under a key of Apple's archives; `nil` if there is none, or one of
    /// another type.
    ///
    /// A number instead of an object ends the program, in Foundation, unless the coder's
    /// `decodingFailurePolicy` is `.setErrorAndReturn`. Only the code that makes the coder can set
    /// that: after anything was decoded it is too late.
    func appleObject<Object>(_ key: String, as type: Object.Type = Object.self) -> Object? {
        guard self.allowsKeyedCoding, self.containsValue(forKey: key) else { return nil }
        return self.decodeObject(of: AppleArchive.classesExpected, forKey: key) as? Object
    }

    /// Returns the number under a key of Apple's archives; `nil` if there is none.
    func appleNumber(_ key: String) -> Int? {
        guard self.allowsKeyedCoding, self.containsValue(forKey: key) else { return nil }
        return self.decodeInteger(forKey: key)
    }

    /// Returns the bytes under a key, whether they are an object, as in Apple's archives, or plain
    /// bytes, as in ours.
    func archivedBytes(_ key: String) -> [UInt8]? {
        guard self.allowsKeyedCoding, self.containsValue(forKey: key) else { return nil }
        // SAFETY: the bytes are copied before the call returns.
        let bytes = self.withDecodedUnsafeBufferPointer(forKey: key) { $0.map { Array($0) } }
        return bytes ?? self.appleObject(key, as: Data.self).map { Array($0) }
    }
}
