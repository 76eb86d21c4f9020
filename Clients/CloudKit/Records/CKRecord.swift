public import Foundation
import RecordModel
import Synchronization

/// A record: typed values under keys, in a zone.
///
/// What Apple's framework raises an exception for (an invalid key, a list in a list, a list of several types, an
/// encrypted reference, a key that is both encrypted and not) is remembered, and the save fails with
/// `CKError.Code.invalidArguments`.
///
/// Several tasks may use a record at once, while it is being saved too: every call sees or makes one change as a whole,
/// and a change made after a save was sent stays a change. Equality is identity.
// SAFETY: what can change is behind one mutex, everything else is constant.
open class CKRecord: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
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
    open var recordChangeTag: String? { self.snapshot.system.changeTag }

    /// Who created the record; `nil` until it was saved or fetched.
    open var creatorUserRecordID: CKRecordID? {
        self.snapshot.system.creator.map { CKRecordID(recordName: $0) }
    }

    /// When the server created the record; `nil` until it was saved or fetched.
    open var creationDate: Date? {
        self.snapshot.system.createdMilliseconds.map { Date(milliseconds: $0) }
    }

    /// Who changed the record last; `nil` until it was saved or fetched.
    open var lastModifiedUserRecordID: CKRecordID? {
        self.snapshot.system.modifier.map { CKRecordID(recordName: $0) }
    }

    /// When the server changed the record last; `nil` until it was saved or fetched.
    open var modificationDate: Date? {
        self.snapshot.system.modifiedMilliseconds.map { Date(milliseconds: $0) }
    }

    /// The share that the record is the root of: what a server said, or `CKShare(rootRecord:)` has set; `nil`: none.
    open var share: CKReference? { self.snapshot.share }

    /// The record that this one belongs to, in the same zone, with action `.none`.
    ///
    /// Another zone or action is refused when the record is saved.
    open var parent: CKReference? {
        get { self.snapshot.parent?.reference }
        set {
            let parent = newValue.map { RecordState.Parent($0, in: self.storedID.zoneID) }
            _ = self.state.withLock { $0.replaceParent(by: parent) }
        }
    }

    /// The values that are marked as encrypted: the record itself has their keys, and `nil` under them.
    ///
    /// They travel under TLS like all values and are never indexed, but the server stores them as they are.
    open var encryptedValues: any CKRecordKeyValueSetting & Sendable { EncryptedValues(of: self) }

    let storedID: CKRecordID
    /// Held for one change or reading, never while code of others runs: not even to release an object of theirs.
    let state: Mutex<RecordState>

    /// What the record is at this moment.
    var snapshot: RecordState { self.state.withLock { $0 } }

    /// The record as the server had it when this instance last heard of it.
    var ancestor: Record? { self.snapshot.ancestor }

    init(storing recordType: RecordType, recordID: CKRecordID, state: RecordState) {
        self.recordType = recordType
        self.storedID = recordID
        self.state = Mutex(state)
        super.init()
    }

    /// Creates a record, with a random name in the default zone unless an ID is given.
    public convenience init(recordType: RecordType, recordID: CKRecordID = CKRecordID()) {
        self.init(
            storing: recordType,
            recordID: recordID,
            state: RecordState(table: FieldTable(in: recordID.zoneID))
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
        self.state = Mutex(archive.state)
        super.init()
    }

    /// Writes the whole record into an archive, values and changes included.
    ///
    /// Values that can't be saved (infinite numbers) are not kept; that they can't be saved is. Of assets their files' names are kept.
    open func encode(with coder: NSCoder) {
        let archive = self.archive
        coder.encodeBody(archive.systemParts + archive.contentParts)
    }

    /// Writes into an archive what the server needs to recognise the record, the parent included, but no values.
    ///
    /// One state of a record has one encoding, byte for byte: published code compares archives. To that end a
    /// keyed archiver is switched to the XML format.
    open func encodeSystemFields(with coder: NSCoder) {
        // The binary format writes dictionaries in the order of their hash tables, which differs from run to run.
        (coder as? NSKeyedArchiver)?.outputFormat = .xml
        coder.encodeBody(self.archive.systemParts)
    }

    private var archive: RecordArchive {
        RecordArchive(recordType: self.recordType, recordID: self.storedID, state: self.snapshot)
    }

    /// Whether records may be read where secure coding is required: always.
    open class var supportsSecureCoding: Bool { true }

    /// Returns an independent record with the same content, change tag and changes.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKRecord(storing: self.recordType, recordID: self.storedID, state: self.snapshot.copy)
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
        self.object(forKey: key, encrypted: false)
    }

    /// Sets the value of a field; `nil` removes the field, here and with the next save on the server.
    ///
    /// Setting an equal value is a change too.
    open func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: FieldKey) {
        self.setObject(object, forKey: key, encrypted: false)
    }

    /// The name of a key's field, and the key of a field: the same but in shares.
    func tableKey(of key: FieldKey) -> String { key }
    func fieldKey(of name: String) -> FieldKey { name }

    func object(forKey key: FieldKey, encrypted: Bool) -> (any __CKRecordObjCValue)? {
        let name = self.tableKey(of: key)
        let entry = self.state.withLock { $0.table.entries[name] }
        return entry?.object(encrypted: encrypted, in: self.storedID.zoneID)
    }

    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: FieldKey, encrypted: Bool) {
        let zone = self.storedID.zoneID.model
        let entry = object.map { FieldTable.entry(of: $0, encrypted: encrypted, in: zone) }
        let name = self.tableKey(of: key)
        _ = self.state.withLock { $0.table.set(name, to: entry, encrypted: encrypted) }
    }

    /// The value of a field; see `object(forKey:)` and `setObject(_:forKey:)`.
    open subscript(key: FieldKey) -> (any __CKRecordObjCValue)? {
        get { self.object(forKey: key) }
        set { self.setObject(newValue, forKey: key) }
    }

    /// Returns the keys that have values here, in ascending order, those of `encryptedValues` included.
    open func allKeys() -> [FieldKey] { self.snapshot.table.keys.map { self.fieldKey(of: $0) } }

    /// Returns the keys set or removed here since the record was fetched or saved, in ascending order, those of
    /// `encryptedValues` included.
    open func changedKeys() -> [FieldKey] {
        self.snapshot.table.changedKeys.map { self.fieldKey(of: $0) }
    }

    /// The keys of `encryptedValues`.
    var encryptedKeys: [FieldKey] {
        self.snapshot.table.keys(encrypted: true).map { self.fieldKey(of: $0) }
    }

    /// The changed keys of `encryptedValues`.
    var changedEncryptedKeys: [FieldKey] {
        self.snapshot.table.changedKeys(encrypted: true).map { self.fieldKey(of: $0) }
    }

    /// Returns what stands between white space in all texts but the encrypted ones, each once, in the order of keys.
    ///
    /// Full text on the server cuts at punctuation too.
    open func allTokens() -> [String] {
        var seen: Set<String> = []
        let words = self.texts.flatMap { $0.split(whereSeparator: \.isWhitespace) }.map { String($0) }
        return words.filter { seen.insert($0).inserted }
    }

    /// The values that are texts, but for the encrypted ones, in the order of keys.
    var texts: [String] { self.map(\.1).compactMap { $0 as? String } }

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

    /// Returns an iterator over the fields that have values here, in the order of their keys, without the encrypted ones.
    public func makeIterator() -> CKRecordKeyValueIterator {
        let table = self.snapshot.table
        return CKRecordKeyValueIterator(
            table.keys(encrypted: false).compactMap { name in
                table.entries[name]?.object(encrypted: false, in: self.storedID.zoneID).map {
                    (self.fieldKey(of: name), $0)
                }
            }
        )
    }
}
