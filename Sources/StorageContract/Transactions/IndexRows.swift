package import RecordModel

/// The entries of one index and zone to read.
package struct EntryScan: Hashable, Sendable {
    package var index: Int64
    package var zone: ZoneKey
    package var range: EntryRange
    package var isDescending = false
    /// The last entry that was read before: the scan goes on behind it.
    package var after: EntryPosition?
    /// The number of entries to skip first.
    package var offset = 0
    package var limit: Int
    /// Whether the list has the records of its entries.
    package var hasRecords = false

    package init(_ range: EntryRange, of index: Int64, in zone: ZoneKey, limit: Int = .max) {
        self.index = index
        self.zone = zone
        self.range = range
        self.limit = limit
    }
}

/// Which records of a zone that have one value are read, ascending from a number on.
package struct NumberScan: Hashable, Sendable {
    package var index: Int64
    package var zone: ZoneKey
    package var value: [UInt8]
    package var start: Int64
    package var limit: Int
    /// Whether the list has the records.
    package var hasRecords = false

    package init(_ value: [UInt8], of index: Int64, in zone: ZoneKey, from start: Int64, limit: Int) {
        self.index = index
        self.zone = zone
        self.value = value
        self.start = start
        self.limit = limit
    }
}

/// The position of an entry in its index: by value, then by record number.
package struct EntryPosition: Hashable, Sendable {
    package var value: [UInt8]
    package var record: Int64

    package init(value: [UInt8], record: Int64) {
        self.value = value
        self.record = record
    }
}

package struct NamedZone: Hashable, Sendable {
    package var name: String
    package var key: ZoneKey

    package init(name: String, key: ZoneKey) {
        self.name = name
        self.key = key
    }
}

package struct NamedRecord: Hashable, Sendable {
    package var name: String
    package var stored: StoredRecord

    package init(name: String, stored: StoredRecord) {
        self.name = name
        self.stored = stored
    }
}

/// A record type as queries see it.
package struct QueryableType: Hashable, Sendable {
    /// By name, those of `SystemField` that have an index included.
    package var fields: [String: QueryableField] = [:]

    package init() {}

    /// The index that has one entry a record, in the order of names: every type has it.
    package var listing: QueryableField? { self.fields[SystemField.recordID.rawValue] }
}

package struct QueryableField: Hashable, Sendable {
    package var type: FieldType
    /// Integers are values too, beside doubles.
    package var isNumber: Bool
    package var isEncrypted: Bool
    /// The kinds of index that a client may use.
    package var indexes: IndexKinds
    /// The index of the entries; `nil` if there are no entries.
    package var index: Int64?
    /// The entries are not complete yet.
    package var isBuilding: Bool

    package init(
        type: FieldType,
        isNumber: Bool = false,
        isEncrypted: Bool = false,
        indexes: IndexKinds,
        index: Int64?,
        isBuilding: Bool = false
    ) {
        self.type = type
        self.isNumber = isNumber
        self.isEncrypted = isEncrypted
        self.indexes = indexes
        self.index = index
        self.isBuilding = isBuilding
    }
}
