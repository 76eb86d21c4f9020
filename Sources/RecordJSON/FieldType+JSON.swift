package import RecordModel

extension FieldType {
    /// The name of the type in the JSON of records, as in CloudKit Web Services.
    package var jsonName: String {
        switch self {
        case .string: "STRING"
        case .int64: "INT64"
        case .double: "DOUBLE"
        case .timestamp: "TIMESTAMP"
        case .bytes: "BYTES"
        case .location: "LOCATION"
        case .reference: "REFERENCE"
        case .asset: "ASSETID"
        case .stringList: "STRING_LIST"
        case .int64List: "INT64_LIST"
        case .doubleList: "DOUBLE_LIST"
        case .timestampList: "TIMESTAMP_LIST"
        case .bytesList: "BYTES_LIST"
        case .locationList: "LOCATION_LIST"
        case .referenceList: "REFERENCE_LIST"
        case .assetList: "ASSETID_LIST"
        case .emptyList: "UNKNOWN_LIST"
        case .clear: "UNKNOWN"
        }
    }

    private static let byJSONName = Dictionary(
        uniqueKeysWithValues: Self.allCases.map { ($0.jsonName, $0) }
    )

    /// The type by its name in JSON, or `nil` if there is none.
    package init?(jsonName: String) {
        guard let type = Self.byJSONName[jsonName] else { return nil }
        self = type
    }
}

extension Reference.Action {
    var jsonName: String {
        switch self {
        case .none: "NONE"
        case .deleteSelf: "DELETE_SELF"
        case .validate: "VALIDATE"
        }
    }

    init?(jsonName: String) {
        switch jsonName {
        case "NONE": self = .none
        case "DELETE_SELF": self = .deleteSelf
        case "VALIDATE": self = .validate
        default: return nil
        }
    }
}
