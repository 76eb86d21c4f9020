import Foundation
import RecordModel

/// The fields of a record on this side: values, changes and faults.
struct FieldTable: Sendable {
    /// The object of a field.
    // SAFETY: an object is a location or reference, which never change, or a refused value. Of that
    // only the pointer is used here; its class decides what several tasks may do with it.
    struct KeptObject: @unchecked Sendable {
        let object: any __CKRecordObjCValue
    }

    /// A field that has a value here.
    struct Entry: Sendable {
        /// The value that the server would store, or why it can't.
        var value: Result<FieldValue, ValueRefusal>
        var isEncrypted: Bool
        /// The object that was set; `nil` if it is made from `value` on demand.
        var kept: KeptObject?

        /// Returns the value as users get it; `nil` if the field is of the other kind.
        func object(encrypted: Bool, in zone: CKRecordZoneID) -> (any __CKRecordObjCValue)? {
            guard self.isEncrypted == encrypted else { return nil }
            if let kept = self.kept { return kept.object }
            guard case .success(let value) = self.value else { return nil }
            return value.object(in: zone)
        }
    }

    /// A change of a field that the server does not have.
    struct Change: Sendable {
        /// The time of the change, on a clock that ticks with every change of the record.
        var generation: UInt64
        var isEncrypted: Bool
    }

    /// Fields of the server, decoded on their first use; `nil` if there are none.
    private var unread: UnreadFields?
    /// Fields that were decoded or set; a field that is in both counts as it is here.
    private var read: [String: Entry] = [:]
    private(set) var changes: [String: Change] = [:]
    /// The faults for which Apple's framework would have raised an exception, by key.
    private(set) var misuses: [String: ValueRefusal] = [:]
    private(set) var generation: UInt64 = 0

    /// Makes a table without fields.
    init() {}

    /// Takes the fields that a server returned, without those that only the server writes.
    ///
    /// - Parameters:
    ///   - body: The fields, which are decoded on their first use.
    ///   - zone: The zone of the record.
    ///   - serverFields: Gets the fields that only the server writes.
    init(_ body: RecordBody, in zone: CKRecordZoneID, serverFields: inout [Field]) {
        var cursor = FieldCursor(body.bytes)
        while let slice = cursor.nextTrusted() {
            if UnreadFields.isServers(slice, of: body) {
                serverFields.append(body.field(of: slice))
            } else if slice.type.isComparedByIdentity {
                // Its object is made once, and every look finds the same.
                self.read[body.name(of: slice)] = Entry(body.field(of: slice), in: zone)
            }
        }
        if !body.isEmpty { self.unread = UnreadFields(body: body, zone: zone) }
    }

    private init(_ body: RecordBody, in zone: CKRecordZoneID) {
        var ignored: [Field] = []
        self.init(body, in: zone, serverFields: &ignored)
    }

    /// Every field that has a value here, by its key.
    var entries: [String: Entry] {
        guard let unread = self.unread else { return self.read }
        return unread.entries(besides: self.read)
    }

    /// The field under a key; `nil` if it has no value here.
    func entry(_ key: String) -> Entry? {
        if let entry = self.read[key] { return entry }
        return self.unread?.entry(key)
    }

    /// Decodes all fields, because one of them changes.
    private mutating func readAll() {
        guard self.unread != nil else { return }
        self.read = self.entries
        self.unread = nil
    }

    /// The fields with objects that are made once, and all others that were set here.
    var kept: some Collection<Entry> { self.read.values }

    /// Restores the fields of an archive.
    ///
    /// - Parameters:
    ///   - body: The fields, without those of `oddFields`.
    ///   - oddFields: Fields with names that no server takes.
    ///   - zone: The zone of the record.
    ///   - changes: The changed keys, and whether their fields are encrypted.
    ///   - misuses: The faults.
    init(
        _ body: RecordBody,
        oddFields: [Field],
        in zone: CKRecordZoneID,
        changes: [(key: String, isEncrypted: Bool)],
        misuses: [String: ValueRefusal]
    ) {
        self.init(body, in: zone)
        self.generation = 1
        self.misuses = misuses
        for field in oddFields {
            self.read[field.name] = Entry(field, in: zone)
            self.misuses[field.name] = .fieldName(field.name)
        }
        for (key, isEncrypted) in changes where NameRules.isIdentifier(key.utf8) || self.read[key] != nil {
            self.changes[key] = Change(generation: 1, isEncrypted: isEncrypted)
        }
    }

    /// The keys of all fields, in ascending order.
    var keys: [String] { self.unread?.keys() ?? self.read.keys.sorted() }

    /// The keys of all fields that changed, in ascending order.
    var changedKeys: [String] { self.changes.keys.sorted() }

    /// The keys of the encrypted or of the other fields, in ascending order.
    func keys(encrypted: Bool) -> [String] {
        self.unread?.keys(encrypted: encrypted)
            ?? self.read.filter { $0.value.isEncrypted == encrypted }.keys.sorted()
    }

    /// The changed keys of the encrypted or of the other fields, in ascending order.
    func changedKeys(encrypted: Bool) -> [String] {
        self.changes.filter { $0.value.isEncrypted == encrypted }.keys.sorted()
    }

    /// Sets a field, or removes it with `nil`; a fault is reported by the next save.
    ///
    /// A field with a name that no server takes is kept here too, as Apple's framework does.
    ///
    /// - Returns: The former field, for the caller to release: an object of a foreign class may run
    ///   any code then.
    mutating func set(_ key: String, to entry: Entry?, encrypted: Bool) -> Entry? {
        self.misuses[key] = nil
        // A removed field may come back as either kind: code that resolves conflicts sets one, then
        // the other.
        let removed = entry == nil ? self.changes[key]?.isEncrypted : nil
        self.readAll()
        if let kind = self.read[key]?.isEncrypted ?? removed, kind != encrypted {
            guard entry != nil else { return nil }
            self.misuses[key] = ValueRefusal("The field '\(key)' can't be both encrypted and not encrypted")
            return nil
        }
        self.generation += 1
        self.changes[key] = Change(generation: self.generation, isEncrypted: encrypted)
        if !NameRules.isIdentifier(key.utf8) {
            self.misuses[key] = entry.map { _ in .fieldName(key) }
            // No server has it, so that there is nothing to remove.
            if entry == nil { self.changes[key] = nil }
        }
        let before = self.read.removeValue(forKey: key)
        self.read[key] = entry
        return before
    }

    /// Remembers that an object was set which can't be a value.
    mutating func refuse(_ value: Any, forKey key: String) {
        let refusal = ValueRefusal.type(of: value)
        self.misuses[key] = ValueRefusal("Field '\(key)': \(refusal.text)")
    }

    /// Stores the server's assets in the fields that were not set again since.
    mutating func assetsSaved(_ fields: [Field]) {
        for field in fields where field.value.holdsAssets && self.changes[field.name] == nil {
            self.read[field.name]?.value = .success(field.value)
        }
    }

    /// Restores the objects of fields from the files that an archive names.
    mutating func restore(_ objects: [String: any __CKRecordObjCValue]) {
        self.readAll()
        for (key, object) in objects { self.read[key]?.kept = KeptObject(object: object) }
    }

    /// Forgets the changes of `keys` up to a generation, because the server has them.
    mutating func forgetChanges(of keys: some Sequence<String>, until generation: UInt64) {
        for key in keys {
            if let change = self.changes[key], change.generation <= generation { self.changes[key] = nil }
        }
    }

    /// Reads an object that was set.
    static func entry(of object: any __CKRecordObjCValue, encrypted: Bool, in zone: ZoneID) -> Entry {
        let value = Self.value(of: object, encrypted: encrypted, in: zone)
        let kept = Self.keptObject(object, for: value)
        return Entry(value: value, isEncrypted: encrypted, kept: kept.map { KeptObject(object: $0) })
    }

    private static func value(
        of object: any __CKRecordObjCValue,
        encrypted: Bool,
        in zone: ZoneID
    ) -> Result<FieldValue, ValueRefusal> {
        guard let convertible = object as? any FieldValueConvertible else {
            return .failure(.type(of: object))
        }
        do {
            let value = try convertible.fieldValue(in: zone)
            if encrypted, value.holdsAssets { return .failure(ValueRefusal("An asset can't be encrypted")) }
            if encrypted, value.type == .reference || value.type == .referenceList {
                return .failure(ValueRefusal("A reference can't be encrypted"))
            }
            return .success(value)
        } catch {
            return .failure(error)
        }
    }

    /// Returns the object itself if it can't change later and is more than its value.
    private static func keptObject(
        _ object: any __CKRecordObjCValue,
        for value: Result<FieldValue, ValueRefusal>
    ) -> (any __CKRecordObjCValue)? {
        guard case .success(let value) = value else { return object }
        switch value.type {
        case .location, .reference, .asset: return object
        case .locationList, .assetList: return (object as? NSArray)?.copy() as? NSArray
        default: return nil
        }
    }
}
