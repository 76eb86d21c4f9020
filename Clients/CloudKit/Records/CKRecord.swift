public import Foundation
import RecordModel

/// A record: typed values under keys, in a zone.
///
/// What Apple's framework raises an exception for (an invalid key, a list in a list, a list of several types, an
/// encrypted reference, a key that is both encrypted and not) is remembered, and the save fails with
/// `CKError.Code.invalidArguments`.
///
/// Instances are not synchronised, as Apple's aren't: while a record is being saved, change a copy. Equality is
/// identity.
open class CKRecord: NSObject, NSSecureCoding, NSCopying {
    /// The name of a record type: an ASCII letter, then letters, digits and `_`; at most 255.
    public typealias RecordType = String
    /// The name of a field: an ASCII letter, then letters, digits and `_`; at most 255.
    public typealias FieldKey = String
    /// Names a record within a database.
    public typealias ID = CKRecordID
    /// A pointer from a field to a record.
    public typealias Reference = CKReference

    /// The type of the record.
    public let recordType: RecordType

    /// The ID of the record.
    open var recordID: CKRecordID { self.storedID }

    /// The server's name for the state of the record; `nil` until it was saved or fetched.
    open var recordChangeTag: String? { self.system.changeTag }

    /// Who created the record; `nil` until it was saved or fetched.
    open var creatorUserRecordID: CKRecordID? { self.system.creator.map { CKRecordID(recordName: $0) } }

    /// When the server created the record; `nil` until it was saved or fetched.
    open var creationDate: Date? { self.system.createdMilliseconds.map { Date(milliseconds: $0) } }

    /// Who changed the record last; `nil` until it was saved or fetched.
    open var lastModifiedUserRecordID: CKRecordID? { self.system.modifier.map { CKRecordID(recordName: $0) } }

    /// When the server changed the record last; `nil` until it was saved or fetched.
    open var modificationDate: Date? { self.system.modifiedMilliseconds.map { Date(milliseconds: $0) } }

    /// The share of the record: `nil`, as records can't be shared yet.
    open var share: CKReference? { nil }

    /// The record that this one belongs to, in the same zone, with action `.none`.
    ///
    /// Another zone or action is refused when the record is saved.
    open var parent: CKReference? {
        get { self.storedParent }
        set {
            self.storedParent = newValue
            self.parentIsChanged = true
            self.parentGeneration += 1
        }
    }

    /// The values that are marked as encrypted; their keys are not among those of the record itself.
    ///
    /// They travel under TLS like all values and are never indexed, but the server stores them as they are.
    open var encryptedValues: any CKRecordKeyValueSetting & Sendable { EncryptedValues(of: self) }

    let storedID: CKRecordID
    var system: SystemState
    var storedParent: CKReference?
    var parentIsChanged = false
    var parentGeneration: UInt64 = 0
    var table: FieldTable
    /// The record as the server had it when this instance last heard of it.
    var ancestor: Record?
    /// The saves that may still be answered, oldest first.
    var saves: [SentSave] = []

    init(storing recordType: RecordType, recordID: CKRecordID, system: SystemState, table: FieldTable) {
        self.recordType = recordType
        self.storedID = recordID
        self.system = system
        self.table = table
        super.init()
    }

    /// Creates a record, with a random name in the default zone unless an ID is given.
    public convenience init(recordType: RecordType, recordID: CKRecordID = CKRecordID()) {
        self.init(
            storing: recordType,
            recordID: recordID,
            system: SystemState(),
            table: FieldTable(in: recordID.zoneID)
        )
    }

    /// Creates a record with a random name in a zone.
    @available(*, deprecated, message: "Use init(recordType:recordID:).")
    public convenience init(recordType: RecordType, zoneID: CKRecordZoneID) {
        self.init(recordType: recordType, recordID: CKRecordID(zoneID: zoneID))
    }

    /// Reads an archived record, or the system fields of one; `nil` when the archive has neither.
    public required init?(coder: NSCoder) {
        guard let archive = RecordArchive(coder) else { return nil }
        self.recordType = archive.recordType
        self.storedID = archive.recordID
        self.system = archive.system
        self.storedParent = archive.parent
        self.parentIsChanged = archive.parentIsChanged
        self.table = archive.table
        self.ancestor = archive.ancestor
        super.init()
    }

    /// Writes the whole record into an archive, values and changes included.
    ///
    /// Values that can't be saved (assets, infinite numbers) are not kept; that they can't be saved is.
    open func encode(with coder: NSCoder) {
        coder.encodeBody(RecordArchive.systemParts(of: self) + RecordArchive.contentParts(of: self))
    }

    /// Writes into an archive what the server needs to recognise the record, the parent included, but no values.
    ///
    /// One state of a record has one encoding, byte for byte: published code compares archives. To that end a
    /// keyed archiver is switched to the XML format.
    open func encodeSystemFields(with coder: NSCoder) {
        // The binary format writes dictionaries in the order of their hash tables, which differs from run to run.
        (coder as? NSKeyedArchiver)?.outputFormat = .xml
        coder.encodeBody(RecordArchive.systemParts(of: self))
    }

    /// Whether records may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

    /// Returns an independent record with the same content, change tag and changes.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKRecord(
            storing: self.recordType,
            recordID: self.recordID,
            system: self.system,
            table: self.table
        )
        copy.storedParent = self.storedParent
        copy.parentIsChanged = self.parentIsChanged
        copy.parentGeneration = self.parentGeneration
        copy.ancestor = self.ancestor
        return copy
    }

    /// Makes a record the parent; `nil` removes the parent.
    open func setParent(_ parentRecord: CKRecord?) {
        self.setParent(parentRecord?.recordID)
    }

    /// Makes the record with an ID the parent; `nil` removes the parent.
    open func setParent(_ parentRecordID: CKRecordID?) {
        self.parent = parentRecordID.map { CKReference(recordID: $0, action: .none) }
    }

    /// Returns the value of a field; `nil` when it has none here or is encrypted.
    open func object(forKey key: FieldKey) -> (any __CKRecordObjCValue)? {
        self.table.object(key, encrypted: false, in: self.recordID.zoneID)
    }

    /// Sets the value of a field; `nil` removes the field, here and with the next save on the server.
    ///
    /// Setting an equal value is a change too.
    open func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: FieldKey) {
        self.table.set(key, to: object, encrypted: false, in: self.recordID.zoneID.model)
    }

    /// The value of a field; see `object(forKey:)` and `setObject(_:forKey:)`.
    open subscript(key: FieldKey) -> (any __CKRecordObjCValue)? {
        get { self.object(forKey: key) }
        set { self.setObject(newValue, forKey: key) }
    }

    /// Returns the keys that have values here, in ascending order, without the encrypted ones.
    open func allKeys() -> [FieldKey] { self.table.keys(encrypted: false) }

    /// Returns the keys set or removed here since the record was fetched or saved, in ascending order.
    open func changedKeys() -> [FieldKey] { self.table.changedKeys(encrypted: false) }

    /// Returns the words of all texts, each once, in the order of keys.
    open func allTokens() -> [String] {
        var seen: Set<String> = []
        let texts = self.allKeys().compactMap { self.object(forKey: $0) as? String }
        let words = texts.flatMap { $0.split { !$0.isLetter && !$0.isNumber } }.map { String($0) }
        return words.filter { seen.insert($0).inserted }
    }

    /// The record for people to read, with its keys but not its values.
    open override var description: String {
        "<CKRecord: recordType=\(self.recordType), recordID=\(self.recordID), "
            + "recordChangeTag=\(self.recordChangeTag ?? "nil"), keys=\(self.allKeys())>"
    }
}

extension CKRecord: CKRecordKeyValueSetting {}

extension CKRecord: Sequence {
    /// Walks keys and values.
    public typealias Iterator = CKRecordKeyValueIterator

    /// Returns an iterator over the fields that have values here, in the order of their keys.
    public func makeIterator() -> CKRecordKeyValueIterator {
        CKRecordKeyValueIterator(
            self.allKeys().compactMap { key in self.object(forKey: key).map { (key, $0) } }
        )
    }
}

// SAFETY: as with Apple's class, its users keep two threads from changing one record at once.
extension CKRecord: @unchecked Sendable {}
