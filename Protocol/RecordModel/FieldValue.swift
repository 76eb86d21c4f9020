/// The value of one field of a record.
package enum FieldValue: Hashable, Sendable {
    case string(String)
    case int64(Int64)
    case double(Double)
    /// Seconds since 2001-01-01T00:00:00Z, like Foundation's `Date`, so that conversions lose
    /// nothing.
    case timestamp(Double)
    case bytes([UInt8])
    case location(Location)
    case reference(Reference)
    case asset(Asset)
    case stringList([String])
    case int64List([Int64])
    case doubleList([Double])
    case timestampList([Double])
    case bytesList([[UInt8]])
    case locationList([Location])
    case referenceList([Reference])
    case assetList([Asset])
    /// A list without elements; its element type is not known yet.
    case emptyList
    /// Only in a save: removes the field.
    case clear
}

/// The type of a field, as the schema names it.
///
/// Raw values are the field numbers of `Field.value` in the `.proto`.
package enum FieldType: UInt8, Hashable, Sendable, CaseIterable {
    case string = 3
    case int64 = 4
    case double = 5
    case timestamp = 6
    case bytes = 7
    case location = 8
    case reference = 9
    case asset = 10
    case stringList = 17
    case int64List = 18
    case doubleList = 19
    case timestampList = 20
    case bytesList = 21
    case locationList = 22
    case referenceList = 23
    case assetList = 24
    case emptyList = 30
    case clear = 31

    /// The spelling of the CloudKit Schema Language.
    package var schemaName: String {
        switch self {
        case .string: "STRING"
        case .int64: "INT64"
        case .double: "DOUBLE"
        case .timestamp: "TIMESTAMP"
        case .bytes: "BYTES"
        case .location: "LOCATION"
        case .reference: "REFERENCE"
        case .asset: "ASSET"
        case .stringList: "LIST<STRING>"
        case .int64List: "LIST<INT64>"
        case .doubleList: "LIST<DOUBLE>"
        case .timestampList: "LIST<TIMESTAMP>"
        case .bytesList: "LIST<BYTES>"
        case .locationList: "LIST<LOCATION>"
        case .referenceList: "LIST<REFERENCE>"
        case .assetList: "LIST<ASSET>"
        case .emptyList: "LIST<>"
        case .clear: "NULL"
        }
    }

    /// Whether values of the type are lists, including the list without a known element type.
    package var isList: Bool { (17...30).contains(self.rawValue) }
}

/// A location on the earth, in the units of the `.proto`.
package struct Location: Hashable, Sendable {
    package var latitude: Double
    package var longitude: Double
    package var altitude: Double = 0
    package var horizontalAccuracy: Double = 0
    package var verticalAccuracy: Double = 0
    package var course: Double = 0
    package var speed: Double = 0
    /// Seconds since 2001-01-01T00:00:00Z.
    package var timestamp: Double = 0

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A reference from a field to a record.
package struct Reference: Hashable, Sendable {
    package enum Action: UInt8, Hashable, Sendable {
        /// The target may be absent.
        case none = 0
        /// The target must exist when the reference is written. Its deletion deletes the referrer.
        case deleteSelf = 1
        /// The target must exist, and cannot be deleted while a record refers to it.
        case validate = 2
    }

    package var recordName: String
    /// `nil` for the zone of the referrer.
    ///
    /// A server accepts no other zone.
    package var zone: ZoneID?
    package var action: Action

    package init(recordName: String, zone: ZoneID? = nil, action: Action) {
        self.recordName = recordName
        self.zone = zone
        self.action = action
    }

    package static func == (left: Reference, right: Reference) -> Bool {
        ExactName.areSame(left.recordName, right.recordName) && left.zone == right.zone
            && left.action == right.action
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactName(self.recordName))
        hasher.combine(self.zone)
        hasher.combine(self.action)
    }
}

/// A named value.
package struct Field: Hashable, Sendable {
    package var name: String
    package var value: FieldValue
    /// Whether the client encrypts the value, or it is treated as if encrypted.
    ///
    /// Never indexed.
    package var isEncrypted: Bool

    package init(name: String, value: FieldValue, isEncrypted: Bool = false) {
        self.name = name
        self.value = value
        self.isEncrypted = isEncrypted
    }
}
