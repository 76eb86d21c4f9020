import RecordModel

extension FieldValue {
    /// Makes a list of constants of one type.
    ///
    /// Fails if the elements are not.
    ///
    /// Integers beside doubles become doubles, if they lose nothing by it.
    init?(list elements: [ExpressionSyntax]) {
        var values: [FieldValue] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            guard case .constant(.value(let value)) = element else { return nil }
            values.append(value)
        }
        self.init(elements: values)
    }

    init?(elements: [FieldValue]) {
        switch elements.first {
        case nil: self = .emptyList
        case .string:
            self.init(elements, FieldValue.stringList) { if case .string(let it) = $0 { it } else { nil } }
        case .int64, .double:
            let integers = FieldValue(elements, FieldValue.int64List) {
                if case .int64(let it) = $0 { it } else { nil }
            }
            guard let numbers = integers ?? FieldValue(elements, FieldValue.doubleList, \.asDouble) else {
                return nil
            }
            self = numbers
        case .timestamp:
            self.init(elements, FieldValue.timestampList) {
                if case .timestamp(let it) = $0 { it } else { nil }
            }
        case .bytes:
            self.init(elements, FieldValue.bytesList) { if case .bytes(let it) = $0 { it } else { nil } }
        case .location:
            self.init(elements, FieldValue.locationList) {
                if case .location(let it) = $0 { it } else { nil }
            }
        case .reference:
            self.init(elements, FieldValue.referenceList) {
                if case .reference(let it) = $0 { it } else { nil }
            }
        case .asset, .stringList, .int64List, .doubleList, .timestampList, .bytesList, .locationList,
            .referenceList, .assetList, .emptyList, .clear:
            return nil
        }
    }

    private init?<Element>(
        _ values: [FieldValue],
        _ list: ([Element]) -> FieldValue,
        _ element: (FieldValue) -> Element?
    ) {
        let elements = values.compactMap(element)
        guard elements.count == values.count else { return nil }
        self = list(elements)
    }

    private var asDouble: Double? {
        switch self {
        case .double(let double): double
        case .int64(let integer): Double(exactly: integer)
        default: nil
        }
    }
}
