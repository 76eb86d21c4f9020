public import Foundation
import RecordModel
import Synchronization

/// A record: typed values under keys, in a zone.
///
/// ```swift
/// let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "first"))
/// note["text"] = "Written on Linux"
/// note["pages"] = 3
/// ```
///
/// The record remembers a fault for which Apple's framework raises an exception, and the save fails
/// with `CKError.Code.invalidArguments`. Such faults are an invalid key, a list in a list, a list
/// of several types, an encrypted reference, and a key that is both encrypted and not.
///
/// Several tasks may use a record at once, also while it is being saved. Each call is one complete
/// reading or change, and a change made after a save was sent stays a change. Equality is identity.
///
/// - Source: Apple's `CKRecord`.
// SAFETY: all mutable state is behind one mutex.
open class CKRecord: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The name of a record type: an ASCII letter, then letters, digits and `_`; at most 255.
    public typealias RecordType = String
    /// The name of a field: an ASCII letter, then letters, digits and `_`; at most 255.
    public typealias FieldKey = String
    /// The ID of a record within a database.
    public typealias ID = CKRecordID
    /// A pointer from a field to a record.
    public typealias Reference = CKReference

    /// The type of the record.
    public let recordType: RecordType

    /// The ID of the record.
    open var recordID: CKRecordID { self.storedID }

    /// The server's name for the state of the record; `nil` until it was saved or fetched.
    open var recordChangeTag: String? { self.state.withLock { $0.system.changeTag } }

    /// The creator of the record; `nil` until it was saved or fetched.
    open var creatorUserRecordID: CKRecordID? {
        self.state.withLock { $0.system.creator }.map { CKRecordID(recordName: $0) }
    }

    /// The time at which the server created the record; `nil` until it was saved or fetched.
    open var creationDate: Date? {
        self.state.withLock { $0.system.createdMilliseconds }.map { Date(milliseconds: $0) }
    }

    /// The user who changed the record last; `nil` until it was saved or fetched.
    open var lastModifiedUserRecordID: CKRecordID? {
        self.state.withLock { $0.system.modifier }.map { CKRecordID(recordName: $0) }
    }

    /// The time at which the server changed the record last; `nil` until it was saved or fetched.
    open var modificationDate: Date? {
        self.state.withLock { $0.system.modifiedMilliseconds }.map { Date(milliseconds: $0) }
    }

    /// The share with this record as its root, from the server or from `CKShare(rootRecord:)`;
    /// `nil` if there is none.
    open var share: CKReference? { self.snapshot.share(in: self.storedID.zoneID) }

    /// The record that this one belongs to, in the same zone, with the action `.none`.
    ///
    /// Another zone or action is refused when the record is saved.
    open var parent: CKReference? {
        get { self.snapshot.parent(in: self.storedID.zoneID) }
        set {
            let parent = newValue.map { RecordState.Parent($0, in: self.storedID.zoneID) }
            _ = self.state.withLock { $0.replaceParent(by: parent) }
        }
    }

    /// The values that are marked as encrypted: the record itself has their keys, and reads `nil`
    /// under them.
    ///
    /// TLS protects them in transit, as all values, and they are never indexed. The server stores
    /// them as they are.
    open var encryptedValues: any CKRecordKeyValueSetting & Sendable { EncryptedValues(of: self) }

    let storedID: CKRecordID
    /// Locked for one change or reading, never while other code runs, not even the release of its
    /// objects.
    let state: Mutex<RecordState>

    /// The state of the record at this moment.
    var snapshot: RecordState { self.state.withLock { $0 } }
    var table: FieldTable { self.state.withLock { $0.table } }
    /// The change tag, and the name of the parent.
    var feedState: (changeTag: String?, parentName: String?) {
        self.state.withLock { ($0.system.changeTag, $0.parentName) }
    }

    /// The server's record that this instance was last given.
    var ancestor: Record? { self.snapshot.ancestor(self.storedID.model, self.recordType) }

    init(storing recordType: RecordType, recordID: CKRecordID, state: RecordState) {
        self.recordType = recordType
        self.storedID = recordID
        self.state = Mutex(state)
        super.init()
    }

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - recordType: An ASCII letter, then letters, digits and `_`; at most 255 characters.
    ///   - recordID: The ID; by default a random name in the default zone.
    public convenience init(recordType: RecordType, recordID: CKRecordID = CKRecordID()) {
        self.init(
            storing: recordType,
            recordID: recordID,
            state: RecordState(table: FieldTable())
        )
    }

    /// Creates a record with a random name in a zone.
    ///
    /// - Parameters:
    ///   - recordType: An ASCII letter, then letters, digits and `_`; at most 255 characters.
    ///   - zoneID: The zone.
    @available(*, deprecated, message: "Use init(recordType:recordID:).")
    public convenience init(recordType: RecordType, zoneID: CKRecordZoneID) {
        self.init(recordType: recordType, recordID: CKRecordID(zoneID: zoneID))
    }

    /// Reads an archived record, or the system fields of one; `nil` if the archive has neither.
    public required init?(coder: NSCoder) {
        guard let archive = RecordArchive(coder) else { return nil }
        self.recordType = archive.recordType
        self.storedID = archive.recordID
        self.state = Mutex(archive.state)
        super.init()
    }

    /// Writes the whole record into an archive, with values and changes.
    ///
    /// A value that can't be saved (an infinite number) is not written, but the fault is. Of assets
    /// only the names of their files are written.
    open func encode(with coder: NSCoder) {
        let archive = self.archive
        coder.encodeBody(archive.systemParts + archive.contentParts)
    }

    /// Writes what the server needs to recognise the record, with the parent, but without values.
    ///
    /// One state of a record has one encoding, byte for byte, because published code compares
    /// archives.
    ///
    /// - Parameter coder: A coder with keys; a keyed archiver is switched to the XML format.
    open func encodeSystemFields(with coder: NSCoder) {
        // The binary format writes dictionaries in the order of their hash tables, which differs
        // from run to run.
        (coder as? NSKeyedArchiver)?.outputFormat = .xml
        coder.encodeBody(self.archive.systemParts)
    }

    private var archive: RecordArchive {
        RecordArchive(recordType: self.recordType, recordID: self.storedID, state: self.snapshot)
    }

    /// Always `true`: records can be read where secure coding is required.
    open class var supportsSecureCoding: Bool { true }

    /// Returns an independent record with the same content, change tag and changes.
    open func copy(with zone: NSZone? = nil) -> Any {
        CKRecord(storing: self.recordType, recordID: self.storedID, state: self.snapshot.copy)
    }

    /// Makes a record the parent.
    ///
    /// - Parameter parentRecord: A record of the same zone, else the save fails with
    ///   `invalidArguments`. If `nil`, the parent is removed.
    open func setParent(_ parentRecord: CKRecord?) {
        self.setParent(parentRecord?.recordID)
    }

    /// Makes the record with an ID the parent.
    ///
    /// - Parameter parentRecordID: An ID in the same zone, else the save fails with
    ///   `invalidArguments`. If `nil`, the parent is removed.
    open func setParent(_ parentRecordID: CKRecordID?) {
        self.parent = parentRecordID.map { CKReference(recordID: $0, action: .none) }
    }

    /// Returns the value of a field.
    ///
    /// - Parameter key: The name of a field.
    /// - Returns: The value, as Foundation's class; `nil` if there is none here, or if it is
    ///   encrypted.
    open func object(forKey key: FieldKey) -> (any __CKRecordObjCValue)? {
        self.object(forKey: key, encrypted: false)
    }

    /// Sets the value of a field.
    ///
    /// Setting an equal value is a change too.
    ///
    /// - Parameters:
    ///   - object: A value, or a list of values of one type. If `nil`, the field is removed, here
    ///     and with the next save on the server.
    ///   - key: An ASCII letter, then letters, digits and `_`; with another name the save fails
    ///     with `invalidArguments`.
    open func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: FieldKey) {
        self.setObject(object, forKey: key, encrypted: false)
    }

    /// Returns the name of a key's field, and the key of a field: the two differ only in shares.
    func tableKey(of key: FieldKey) -> String { key }
    func fieldKey(of name: String) -> FieldKey { name }

    func object(forKey key: FieldKey, encrypted: Bool) -> (any __CKRecordObjCValue)? {
        let name = self.tableKey(of: key)
        let entry = self.state.withLock { $0.table.entry(name) }
        return entry?.object(encrypted: encrypted, in: self.storedID.zoneID)
    }

    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: FieldKey, encrypted: Bool) {
        let zone = self.storedID.zoneID.model
        let entry = object.map { FieldTable.Entry(of: $0, encrypted: encrypted, in: zone) }
        let name = self.tableKey(of: key)
        _ = self.state.withLock { $0.table.set(name, to: entry, encrypted: encrypted) }
    }

    /// The value of a field; see `object(forKey:)` and `setObject(_:forKey:)`.
    ///
    /// - Parameter key: The name of a field.
    open subscript(key: FieldKey) -> (any __CKRecordObjCValue)? {
        get { self.object(forKey: key) }
        set { self.setObject(newValue, forKey: key) }
    }

    /// Returns the keys that have values here, in ascending order, with those of `encryptedValues`.
    open func allKeys() -> [FieldKey] { self.table.keys.map { self.fieldKey(of: $0) } }

    /// Returns the keys set or removed here since the record was fetched or saved, in ascending
    /// order, with those of `encryptedValues`.
    open func changedKeys() -> [FieldKey] {
        self.table.changedKeys.map { self.fieldKey(of: $0) }
    }

    /// The keys of `encryptedValues`.
    var encryptedKeys: [FieldKey] {
        self.table.keys(encrypted: true).map { self.fieldKey(of: $0) }
    }

    /// The changed keys of `encryptedValues`.
    var changedEncryptedKeys: [FieldKey] {
        self.table.changedKeys(encrypted: true).map { self.fieldKey(of: $0) }
    }

    /// Returns the words between white space in all texts but the encrypted ones, each once, in the
    /// order of keys.
    ///
    /// The server's full text splits at punctuation too.
    open func allTokens() -> [String] {
        var seen: Set<String> = []
        let words = self.texts.flatMap { $0.split(whereSeparator: \.isWhitespace) }.map { String($0) }
        return words.filter { seen.insert($0).inserted }
    }

    /// The texts of the record without the encrypted ones, in the order of keys.
    var texts: [String] { self.map(\.1).compactMap { $0 as? String } }

    /// A description of the record for people, with its keys but without its values.
    open override var description: String {
        "<CKRecord: recordType=\(self.recordType), recordID=\(self.recordID), "
            + "recordChangeTag=\(self.recordChangeTag ?? "nil"), keys=\(self.allKeys())>"
    }
}

extension CKRecord: CKRecordKeyValueSetting {}

extension CKRecord: Sequence {
    /// Walks keys and values.
    public typealias Iterator = CKRecordKeyValueIterator

    /// Returns an iterator over the fields that have values here, in the order of their keys,
    /// without the encrypted ones.
    public func makeIterator() -> CKRecordKeyValueIterator {
        CKRecordKeyValueIterator(
            self.table.entries.compactMap { name, entry in
                entry.object(encrypted: false, in: self.storedID.zoneID).map { (self.fieldKey(of: name), $0) }
            }
        )
    }
}
