import Foundation
import RecordModel

/// The fields of a record on this side: those of the server as they came, and above them those that
/// were set or removed here.
///
/// A field of the server is decoded when it is read. One that is set hides it, and leaves the others
/// as they are. Most records have few fields of their own, so these are a list in order of keys.
struct FieldTable: Sendable {
    /// The object of a field.
    // SAFETY: an object is a location or reference, which never change, or a refused value. Of that
    // only the pointer is used here; its class decides what several tasks may do with it.
    struct KeptObject: @unchecked Sendable {
        let object: any __CKRecordObjCValue
    }

    /// A field that has a value here.
    struct Entry: Sendable {
        enum Content: Sendable {
            case value(FieldValue)
            /// A field of the server's, not decoded.
            case encoded(FieldSlice, in: RecordBody)
            /// Why the server can't have the value.
            case refused(ValueRefusal)
        }

        var content: Content
        var isEncrypted: Bool
        /// The object that was set; `nil` if it is made on demand.
        var kept: KeptObject?

        /// The value that the server would store, or why it can't.
        var value: Result<FieldValue, ValueRefusal> {
            switch self.content {
            case .value(let value): .success(value)
            case .encoded(let slice, let body): .success(body.value(of: slice))
            case .refused(let refusal): .failure(refusal)
            }
        }

        /// Returns the value as users get it; `nil` if the field is of the other kind.
        func object(encrypted: Bool, in zone: CKRecordZoneID) -> (any __CKRecordObjCValue)? {
            guard self.isEncrypted == encrypted else { return nil }
            if let kept = self.kept { return kept.object }
            switch self.content {
            case .value(let value): return value.object(in: zone)
            case .encoded(let slice, let body):
                // Bytes without a copy in between.
                guard slice.type != .bytes else { return Data(body.bytes[slice.value]) }
                return body.value(of: slice).object(in: zone)
            case .refused: return nil
            }
        }
    }

    /// A field that was set or removed here, or has an object that is made once.
    private struct OwnField: Sendable {
        let key: String
        /// `nil` if the field was removed.
        var entry: Entry?
        /// The time of the change, on a clock that ticks with every change of the record; `nil` if
        /// the server has it.
        var change: UInt64?
        /// Whether the value is encrypted, or the removal was of such a one.
        var isEncrypted: Bool

        init(_ key: String, _ entry: Entry?, change: UInt64? = nil, isEncrypted: Bool? = nil) {
            self.key = key
            self.entry = entry
            self.change = change
            self.isEncrypted = isEncrypted ?? entry?.isEncrypted ?? false
        }

        /// About as many bytes as the field takes in a save; 0 if only its encoding says.
        var bytesEstimate: Int {
            let value: Int
            switch self.entry?.content {
            case .value(.string(let string)): value = string.utf8.count
            case .value(.bytes(let bytes)): value = bytes.count
            case .value(.stringList(let strings)): value = strings.reduce(0) { $0 + $1.utf8.count + 6 }
            case .value(.int64), .value(.double), .value(.timestamp), .value(.clear), nil: value = 16
            case .encoded(let slice, _): value = slice.entry.count
            case .value, .refused: return 0
            }
            return self.key.utf8.count + value + 12
        }
    }

    /// The server's fields, with those that only the server writes.
    private var served = RecordBody.empty
    /// In ascending order of keys.
    private var own: [OwnField] = []
    /// The faults for which Apple's framework would have raised an exception, by key.
    private(set) var misuses: [String: ValueRefusal] = [:]
    private(set) var generation: UInt64 = 0

    /// Makes a table without fields.
    init() {}

    /// Takes the fields that a server returned.
    init(_ body: RecordBody, _ contents: BodyContents, in zone: CKRecordZoneID) {
        self.served = body
        guard FieldType.comparedByIdentity.contains(where: { contents.has($0) }) else { return }
        for field in self.merged where field.entry?.isComparedByIdentity == true {
            // Its object is made once, and every look finds the same.
            self.put(field.key, field.entry?.decoded(in: zone))
        }
    }

    // MARK: Reading

    /// Returns where the key of a field of its own is, or would be.
    private func place(of key: String) -> (index: Int, isThere: Bool) {
        var (low, high) = (0, self.own.count)
        while low < high {
            let middle = (low + high) / 2
            if self.own[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return (low, low < self.own.count && self.own[low].key == key)
    }

    /// Returns the field under a key; `nil` if it has no value here.
    func entry(_ key: String) -> Entry? {
        if !self.own.isEmpty {
            let (index, isThere) = self.place(of: key)
            if isThere { return self.own[index].entry }
        }
        guard !self.served.isEmpty, let slice = self.served.slice(named: key),
            !slice.isServers(in: self.served.bytes)
        else { return nil }
        return Entry(slice, in: self.served)
    }

    /// Every field in ascending order of keys, also those that were removed.
    private var merged: [OwnField] {
        var merged: [OwnField] = []
        var own = self.own[...]
        for slice in self.served.slices where !slice.isServers(in: self.served.bytes) {
            let field = OwnField(self.served.name(of: slice), Entry(slice, in: self.served))
            while let next = own.first, next.key < field.key { merged.append(own.removeFirst()) }
            if own.first?.key != field.key { merged.append(field) }
        }
        return merged + own
    }

    /// Every field that has a value here, in ascending order of keys.
    var entries: [(key: String, entry: Entry)] {
        self.merged.compactMap { field in field.entry.map { (field.key, $0) } }
    }

    /// The keys of all fields, in ascending order.
    var keys: [String] { self.entries.map(\.key) }

    /// The keys of the encrypted or of the other fields, in ascending order.
    func keys(encrypted: Bool) -> [String] {
        self.entries.filter { $0.entry.isEncrypted == encrypted }.map(\.key)
    }

    /// The keys of all fields that changed, in ascending order.
    var changedKeys: [String] { self.own.filter { $0.change != nil }.map(\.key) }

    /// The changed keys of the encrypted or of the other fields, in ascending order.
    func changedKeys(encrypted: Bool) -> [String] {
        self.own.filter { $0.change != nil && $0.isEncrypted == encrypted }.map(\.key)
    }

    /// The fields with objects that are made once, and all others that were set here.
    var kept: [Entry] { self.own.compactMap(\.entry) }

    /// Whether any field has an asset.
    var hasAssets: Bool {
        self.own.contains { field in
            if case .value(let value)? = field.entry?.content { value.holdsAssets } else { false }
        }
    }

    // MARK: Changing

    /// Sets a field, or removes it with `nil`; a fault is reported by the next save.
    ///
    /// A field with a name that no server takes is kept here too, as Apple's framework does.
    ///
    /// - Returns: The former field, for the caller to release: an object of a foreign class may run
    ///   any code then.
    mutating func set(_ key: String, to entry: Entry?, encrypted: Bool) -> Entry? {
        if !self.misuses.isEmpty { self.misuses[key] = nil }
        let (index, isThere) = self.place(of: key)
        let own = isThere ? self.own[index] : nil
        // A removed field may come back as either kind: code that resolves conflicts sets one, then
        // the other.
        let removed = entry == nil && own?.change != nil ? own?.isEncrypted : nil
        if let kind = (own == nil ? self.entry(key) : own?.entry)?.isEncrypted ?? removed, kind != encrypted {
            guard entry != nil else { return nil }
            self.misuses[key] = ValueRefusal("The field '\(key)' can't be both encrypted and not encrypted")
            return nil
        }
        self.generation += 1
        let field = OwnField(key, entry, change: self.generation, isEncrypted: encrypted)
        if !NameRules.isIdentifier(key.utf8) {
            self.misuses[key] = entry.map { _ in .fieldName(key) }
            // No server has it, so that there is nothing to remove.
            if entry == nil {
                if isThere { self.own.remove(at: index) }
                return own?.entry
            }
        }
        if isThere { self.own[index] = field } else { self.insert(field, at: index) }
        return own?.entry
    }

    private mutating func insert(_ field: OwnField, at index: Int) {
        // The fields of most new records fit without another allocation.
        if self.own.isEmpty { self.own.reserveCapacity(8) }
        self.own.insert(field, at: index)
    }

    /// Remembers that an object was set which can't be a value.
    mutating func refuse(_ value: Any, forKey key: String) {
        let refusal = ValueRefusal.type(of: value)
        self.misuses[key] = ValueRefusal("Field '\(key)': \(refusal.text)")
    }

    // MARK: Saving

    /// Returns the fields of a save; `allKeys` sends every field that has a value or was removed,
    /// the others send changed fields.
    func fieldsToSend(_ policy: ModifyRecords.Policy) throws(ValueRefusal) -> RecordBody {
        if let (_, misuse) = self.misuses.min(by: { $0.key < $1.key }) { throw misuse }
        let fields = policy == .allKeys ? self.merged : self.own
        var writer = BodyWriter(byteCount: fields.reduce(0) { $0 + $1.bytesEstimate })
        for field in fields where field.change != nil || policy == .allKeys && field.entry != nil {
            switch field.entry?.content ?? .value(.clear) {
            case .value(let value): writer.append(field.key, value, isEncrypted: field.isEncrypted)
            case .encoded(let slice, let body): writer.append(slice, of: body)
            case .refused(let refusal):
                throw ValueRefusal("Field '\(field.key)': \(refusal.text)", code: refusal.code)
            }
        }
        return writer.body
    }

    /// About as many bytes as the changed fields take in a save, rather too many than too few.
    var changedBytesEstimate: Int {
        var bytes = 0
        for field in self.own where field.change != nil {
            let estimate = field.bytesEstimate
            if estimate == 0 { return (try? self.fieldsToSend(.changedKeys))?.bytes.count ?? bytes }
            bytes += estimate
        }
        return bytes
    }

    /// Forgets the changes up to the time of a save, because the server has them.
    mutating func forgetChanges(sent: RecordBody, until generation: UInt64) {
        // The contents of assets are known since their files were sent.
        let assets = self.hasAssets ? sent.fields.filter(\.value.holdsAssets) : []
        for index in self.own.indices {
            guard let change = self.own[index].change, change <= generation else { continue }
            self.own[index].change = nil
        }
        for field in assets {
            let (index, isThere) = self.place(of: field.name)
            guard isThere, self.own[index].change == nil else { continue }
            self.own[index].entry?.content = .value(field.value)
        }
    }

    /// Takes the server's fields after a save, if it has those from before.
    ///
    /// The fields that are among them now are decoded from there.
    mutating func replace(_ before: RecordBody, by after: RecordBody) {
        guard self.served == before else { return }
        self.served = after
        // A new list, so that a record that was saved does not keep the room of the old one.
        self.own = self.own.filter { $0.change != nil || $0.entry?.kept != nil }
    }

    // MARK: Archives

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
        self.init(body, body.contents, in: zone)
        self.generation = 1
        self.misuses = misuses
        for field in oddFields {
            let entry = Entry(content: .value(field.value), isEncrypted: field.isEncrypted)
            self.put(field.name, entry.decoded(in: zone))
            self.misuses[field.name] = .fieldName(field.name)
        }
        for (key, isEncrypted) in changes {
            let entry = self.entry(key)
            guard NameRules.isIdentifier(key.utf8) || entry != nil else { continue }
            self.put(key, entry, change: self.generation, isEncrypted: isEncrypted)
        }
    }

    /// Restores the objects of fields from the files that an archive names.
    mutating func restore(_ objects: [String: any __CKRecordObjCValue], in zone: CKRecordZoneID) {
        for (key, object) in objects {
            guard var entry = self.entry(key)?.decoded(in: zone) else { continue }
            entry.kept = KeptObject(object: object)
            let (index, isThere) = self.place(of: key)
            self.put(key, entry, change: isThere ? self.own[index].change : nil)
        }
    }

    private mutating func put(
        _ key: String,
        _ entry: Entry?,
        change: UInt64? = nil,
        isEncrypted: Bool? = nil
    ) {
        let (index, isThere) = self.place(of: key)
        if isThere { self.own.remove(at: index) }
        self.insert(OwnField(key, entry, change: change, isEncrypted: isEncrypted), at: index)
    }
}
