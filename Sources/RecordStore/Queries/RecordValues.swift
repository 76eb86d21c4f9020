import RecordModel
import StorageContract

/// Locates the fields of a query in a body.
///
/// The body is walked once. Values are decoded only if they are needed.
struct FieldsOfInterest: Sendable {
    /// Ascending by bytes, like the fields of a body.
    private let names: [[UInt8]]
    private let slots: [String: Int]

    init(_ fields: Set<String>) {
        let body = fields.filter { SystemField(rawValue: $0) == nil }
        let sorted = body.map { (name: $0, bytes: Array($0.utf8)) }.sorted { $0.bytes.precedes($1.bytes) }
        self.names = sorted.map(\.bytes)
        self.slots = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1.name, $0) })
    }

    var count: Int { self.names.count }

    /// `nil` if it is not a field of the body.
    func slot(of field: String) -> Int? { self.slots[field] }

    func values(of record: NamedRecord) -> RecordValues {
        var found = [FieldSlice?](repeating: nil, count: self.names.count)
        let bytes = record.stored.body.bytes
        var cursor = FieldCursor(bytes)
        var slot = 0
        while slot < self.names.count, let slice = cursor.nextTrusted() {
            // Names before this field are absent from the record.
            while slot < self.names.count, self.names[slot].lexicographicallyPrecedes(bytes[slice.name]) {
                slot += 1
            }
            guard slot < self.names.count, self.names[slot].elementsEqual(bytes[slice.name]) else { continue }
            found[slot] = slice
            slot += 1
        }
        return RecordValues(record: record, slots: self.slots, slices: found)
    }
}

/// The values of one record that a query tests.
struct RecordValues {
    let record: NamedRecord
    /// Whether the values are unknown: the record then matches every condition that leads to it.
    let isDamaged: Bool
    fileprivate let slots: [String: Int]
    fileprivate let slices: [FieldSlice?]

    /// A record without values.
    static func damaged(_ record: NamedRecord) -> RecordValues {
        RecordValues(record: record, slots: [:], slices: [], isDamaged: true)
    }

    fileprivate init(
        record: NamedRecord,
        slots: [String: Int],
        slices: [FieldSlice?],
        isDamaged: Bool = false
    ) {
        self.record = record
        self.isDamaged = isDamaged
        self.slots = slots
        self.slices = slices
    }

    /// `nil` if the record lacks the field, or it is encrypted and cannot be compared.
    func elements(of field: String) -> [ComparableValue]? {
        if let system = SystemField(rawValue: field) { return self.record.value(of: system).map { [$0] } }
        guard let slot = self.slots[field], let slice = self.slices[slot], !slice.isEncrypted else {
            return nil
        }
        return self.record.stored.body.elements(of: slice)
    }

    /// The size of a field's value, or `nil` if there is nothing to test.
    func size(inSlot slot: Int) -> (bytes: Int, isList: Bool)? {
        guard !self.isDamaged, let slice = self.slices[slot], !slice.isEncrypted else { return nil }
        return (slice.value.count, slice.type.isList)
    }

    /// The record's entries in an index.
    func entries(in index: IndexUse) -> [[UInt8]] {
        if index.field != SystemField.allText.rawValue {
            return self.elements(of: index.field)?.map { $0.indexBytes(isNumber: index.isNumber) } ?? []
        }
        return Array(self.tokens(of: index.sources))
    }

    /// The words of some fields.
    func tokens(of fields: [String]) -> Set<[UInt8]> {
        var tokens: Set<[UInt8]> = []
        for field in fields {
            for text in self.texts(of: field) { SearchTokens.add(Array(text.utf8)[...], to: &tokens) }
        }
        return tokens
    }

    /// The texts of a field for full text.
    private func texts(of field: String) -> [String] {
        guard let slot = self.slots[field], let slice = self.slices[slot], !slice.isEncrypted else {
            return []
        }
        return self.record.stored.body.texts(of: slice)
    }
}

extension RecordBody {
    /// The values that a field offers to a comparison, or `nil` if it cannot be compared.
    func elements(of slice: FieldSlice) -> [ComparableValue]? {
        switch slice.type {
        case .string, .bytes: [.bytes(Array(self.bytes[slice.value]))]
        case .emptyList: []
        case .clear: nil
        case .int64, .double, .timestamp, .location, .reference, .stringList, .int64List, .doubleList,
            .timestampList, .bytesList, .locationList, .referenceList, .asset, .assetList:
            ComparableValue.elements(of: self.value(of: slice))
        }
    }

    /// The texts of a field for full text.
    func texts(of slice: FieldSlice) -> [String] {
        switch self.value(of: slice) {
        case .string(let text): [text]
        case .stringList(let texts): texts
        default: []
        }
    }
}

extension NamedRecord {
    /// `nil` if the record lacks it.
    func value(of field: SystemField) -> ComparableValue? {
        let stored = self.stored
        return switch field {
        case .recordID: .bytes(Array(self.name.utf8))
        case .createTime: .double(ServerDate.seconds(milliseconds: stored.system.createdMilliseconds))
        case .modTime: .double(ServerDate.seconds(milliseconds: stored.system.modifiedMilliseconds))
        case .createdBy: Self.author(stored.system.createdBy)
        case .modifiedBy: Self.author(stored.system.modifiedBy)
        case .etag: .bytes(Array(ChangeTag.text(of: stored.position).utf8))
        case .parent: stored.parent.map { .bytes(Array($0.utf8)) }
        case .allText: nil
        }
    }

    /// `nil` if the author was not signed in.
    private static func author(_ name: String) -> ComparableValue? {
        name.isEmpty ? nil : .bytes(Array(name.utf8))
    }
}
