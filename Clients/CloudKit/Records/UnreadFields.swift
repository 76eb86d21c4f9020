import RecordModel

/// Fields that a server returned, as they came: each is decoded on its first use.
struct UnreadFields: Sendable {
    let body: RecordBody
    let zone: CKRecordZoneID

    /// Whether only the server writes a field: no key begins with an underscore.
    static func isServers(_ slice: FieldSlice, of body: RecordBody) -> Bool {
        body.bytes[slice.name.lowerBound] == UInt8(ascii: "_")
    }

    /// The field under a key; `nil` if there is none.
    func entry(_ key: String) -> FieldTable.Entry? {
        var key = key
        return key.withUTF8 { utf8 in
            self.first { slice, bytes in
                slice.name.count == utf8.count && bytes[slice.name].elementsEqual(utf8)
            }
        }
    }

    private func first(_ isWanted: (FieldSlice, [UInt8]) -> Bool) -> FieldTable.Entry? {
        let bytes = self.body.bytes
        var cursor = FieldCursor(bytes)
        while let slice = cursor.nextTrusted() {
            guard isWanted(slice, bytes) else { continue }
            guard !Self.isServers(slice, of: self.body) else { return nil }
            return FieldTable.Entry(self.body.field(of: slice), in: self.zone)
        }
        return nil
    }

    /// All fields, with those of `others` in place of their own.
    func entries(besides others: [String: FieldTable.Entry]) -> [String: FieldTable.Entry] {
        var entries = others
        for slice in self.slices {
            let name = self.body.name(of: slice)
            guard entries[name] == nil else { continue }
            entries[name] = FieldTable.Entry(self.body.field(of: slice), in: self.zone)
        }
        return entries
    }

    /// The keys of the fields, or of those that are encrypted or are not, in ascending order.
    func keys(encrypted: Bool? = nil) -> [String] {
        self.slices.filter { encrypted == nil || $0.isEncrypted == encrypted }.map {
            self.body.name(of: $0)
        }
    }

    private var slices: [FieldSlice] { self.body.slices.filter { !Self.isServers($0, of: self.body) } }
}

extension FieldTable.Entry {
    init(_ field: Field, in zone: CKRecordZoneID) {
        let object = field.value.isComparedByIdentity ? field.value.object(in: zone) : nil
        self.init(
            value: .success(field.value),
            isEncrypted: field.isEncrypted,
            kept: object.map { FieldTable.KeptObject(object: $0) }
        )
    }
}

extension RecordBody {
    func field(of slice: FieldSlice) -> Field {
        Field(name: self.name(of: slice), value: self.value(of: slice), isEncrypted: slice.isEncrypted)
    }
}

extension FieldType {
    /// Whether two objects of the same value differ.
    var isComparedByIdentity: Bool {
        switch self {
        case .location, .locationList, .asset, .assetList: true
        default: false
        }
    }
}
