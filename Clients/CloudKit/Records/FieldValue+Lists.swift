import Foundation
import RecordModel

extension FieldValue {
    /// Returns the list value for elements of one type.
    static func list(_ elements: [Any], in zone: ZoneID) throws(ValueRefusal) -> FieldValue {
        var values: [FieldValue] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            guard let element = element as? any FieldValueConvertible else {
                throw ValueRefusal("A list can't hold a value of the type \(Swift.type(of: element))")
            }
            values.append(try element.fieldValue(in: zone))
        }
        return try Self.list(values)
    }

    private static func list(_ values: [FieldValue]) throws(ValueRefusal) -> FieldValue {
        guard let first = values.first else { return .emptyList }
        switch first.type {
        case .string:
            return .stringList(try Self.unwrap(values) { if case .string(let it) = $0 { it } else { nil } })
        case .int64, .double: return try Self.numbers(values)
        case .timestamp:
            return .timestampList(
                try Self.unwrap(values) { if case .timestamp(let it) = $0 { it } else { nil } }
            )
        case .bytes:
            return .bytesList(try Self.unwrap(values) { if case .bytes(let it) = $0 { it } else { nil } })
        case .location:
            return .locationList(
                try Self.unwrap(values) { if case .location(let it) = $0 { it } else { nil } }
            )
        case .reference:
            return .referenceList(
                try Self.unwrap(values) { if case .reference(let it) = $0 { it } else { nil } }
            )
        case .asset:
            return .assetList(try Self.unwrap(values) { if case .asset(let it) = $0 { it } else { nil } })
        case .stringList, .int64List, .doubleList, .timestampList, .bytesList, .locationList,
            .referenceList, .assetList, .emptyList, .clear:
            throw ValueRefusal("A list can't hold lists")
        }
    }

    private static func unwrap<Element>(
        _ values: [FieldValue],
        _ element: (FieldValue) -> Element?
    ) throws(ValueRefusal) -> [Element] {
        let elements = values.compactMap(element)
        guard elements.count == values.count else {
            throw ValueRefusal("The elements of a list differ in type")
        }
        return elements
    }

    /// Returns a list of integers if all numbers are integers, else one of doubles.
    ///
    /// `[1, 2.5]` consists of one class, `NSNumber`, and so is a list of doubles.
    private static func numbers(_ values: [FieldValue]) throws(ValueRefusal) -> FieldValue {
        if values.allSatisfy({ $0.type == .int64 }) {
            return .int64List(try Self.unwrap(values) { if case .int64(let it) = $0 { it } else { nil } })
        }
        return .doubleList(
            try Self.unwrap(values) { value in
                switch value {
                case .double(let double): double
                case .int64(let integer): Double(exactly: integer)
                default: nil
                }
            }
        )
    }
}
