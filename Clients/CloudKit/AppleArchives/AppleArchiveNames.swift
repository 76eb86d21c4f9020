internal import Foundation

/// Tells Foundation which classes Apple's names in archives mean.
///
/// Called when the program is loaded; `Clients/ArchiveNames` says why from C.
@_cdecl("tidemark_register_archive_names")
func registerAppleArchiveNames() {
    for known in AppleArchive.classes { NSKeyedUnarchiver.setClass(known.type, forClassName: known.name) }
}

/// Archives made by Apple's framework: apps keep them from their life on Apple's systems.
///
/// Only what is known of their keys is read. Without these names every such archive would end a program that reads it with
/// `NSKeyedUnarchiver(forReadingFrom:)`.
enum AppleArchive {
    /// The classes that are read, by the names that Apple's archives give them.
    static let classes: [(name: String, type: AnyClass)] = [
        ("CKRecord", CKRecord.self), ("CKRecordID", CKRecordID.self),
        ("CKRecordZoneID", CKRecordZoneID.self), ("CKReference", CKReference.self),
        ("CKServerChangeToken", CKServerChangeToken.self), ("CKQueryCursor", CKQueryCursor.self),
        ("CKShare", CKShare.self), ("CKShareParticipant", CKShareParticipant.self),
        ("CKUserIdentity", CKUserIdentity.self),
    ]

    /// What may be in the place of an object that is looked for: another class than these ends the program, in Foundation.
    static let classesExpected: [AnyClass] =
        AppleArchive.classes.map { $0.type } + [
            NSString.self, NSNumber.self, NSData.self, NSDate.self, NSArray.self, NSDictionary.self,
            NSURL.self,
        ]
}

extension NSCoder {
    /// An object under a key of Apple's archives; `nil` if there is none, or another one.
    ///
    /// A number in the place of an object ends the program, in Foundation, unless the coder's `decodingFailurePolicy` is
    /// `.setErrorAndReturn`. Only who made the coder can set that: it is too late once anything was decoded.
    func appleObject<Object>(_ key: String, as type: Object.Type = Object.self) -> Object? {
        guard self.allowsKeyedCoding, self.containsValue(forKey: key) else { return nil }
        return self.decodeObject(of: AppleArchive.classesExpected, forKey: key) as? Object
    }

    /// A number under a key of Apple's archives; `nil` if there is none.
    func appleNumber(_ key: String) -> Int? {
        guard self.allowsKeyedCoding, self.containsValue(forKey: key) else { return nil }
        return self.decodeInteger(forKey: key)
    }

    /// The bytes under a key, whether they are an object, as in Apple's archives, or not, as in ours.
    func archivedBytes(_ key: String) -> [UInt8]? {
        guard self.allowsKeyedCoding, self.containsValue(forKey: key) else { return nil }
        // SAFETY: the bytes are copied before the call returns.
        let bytes = self.withDecodedUnsafeBufferPointer(forKey: key) { $0.map { Array($0) } }
        return bytes ?? self.appleObject(key, as: Data.self).map { Array($0) }
    }
}
