import RecordModel
import StorageContract

/// The operand of a comparison, converted to the type of its field.
struct Operands {
    let field: String
    let type: FieldType
    let isNumber: Bool
    let comparison: Comparison

    /// `nil` if no value of the field can meet it.
    var condition: ValueCondition? {
        get throws(StoreError) {
            switch self.comparison.comparator {
            case .equals, .notEquals, .listContains, .listNotContains:
                return self.anyOf(try self.values(of: self.comparison.operand, isList: false))
            case .in, .notIn, .listContainsAny, .listNotContainsAny:
                return self.anyOf(try self.values(of: self.comparison.operand, isList: true))
            case .listContainsAll, .notListContainsAll:
                let values = try self.values(of: self.comparison.operand, isList: true)
                guard values.allSatisfy({ $0 != nil }) else { return nil }
                return .allOf(self.distinct(values))
            case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals:
                return try self.nearest(self.comparison.operand).map {
                    .range($0.range(self.comparison.comparator))
                }
            case .near: return try self.circle
            case .beginsWith, .notBeginsWith, .listMemberBeginsWith, .notListMemberBeginsWith:
                guard case .string(let prefix) = self.comparison.operand else { throw self.mismatch }
                return .prefix(Array(prefix.utf8))
            case .containsAllTokens, .containsAnyTokens:
                throw self.mismatch
            }
        }
    }

    private var circle: ValueCondition? {
        get throws(StoreError) {
            guard case .location(let centre) = self.comparison.operand else { throw self.mismatch }
            let metres = self.comparison.distanceMetres
            guard metres >= 0, centre.latitude.isFinite, centre.longitude.isFinite else { return nil }
            return .near(centre, metres: metres)
        }
    }

    private var mismatch: StoreError {
        .operandTypeMismatch(field: self.field, given: self.comparison.operand.type, defined: self.type)
    }

    private func anyOf(_ values: [ComparableValue?]) -> ValueCondition? {
        let distinct = self.distinct(values)
        return distinct.isEmpty ? nil : .anyOf(distinct)
    }

    private func distinct(_ values: [ComparableValue?]) -> [ComparableValue] {
        var distinct: [ComparableValue] = []
        for value in values.compactMap({ $0 }).sorted() where distinct.last != value {
            distinct.append(value)
        }
        return distinct
    }

    /// Has `nil` for each operand that no value of the field can equal.
    private func values(of operand: FieldValue, isList: Bool) throws(StoreError) -> [ComparableValue?] {
        if operand == .emptyList, isList { return [] }
        guard operand.type.isList == isList, operand != .emptyList, operand != .clear else {
            throw self.mismatch
        }
        return try operand.scalars.map { (scalar) throws(StoreError) in
            guard let nearest = try self.nearest(scalar), nearest.side == .exact else { return nil }
            return nearest.value
        }
    }

    /// `nil` for NaN.
    private func nearest(_ operand: FieldValue) throws(StoreError) -> NearestNumber? {
        switch (self.type.element, operand) {
        case (.int64, .double(let double)): return NearestNumber(double)
        case (.double, .int64(let integer)):
            return self.isNumber ? NearestNumber(exactly: .integer(integer)) : NearestNumber(integer)
        case (.string, .string), (.int64, .int64), (.double, .double), (.timestamp, .timestamp),
            (.bytes, .bytes), (.location, .location), (.reference, .reference):
            guard let value = ComparableValue.elements(of: operand).first, value == value else { return nil }
            return NearestNumber(exactly: value)
        default: throw self.mismatch
        }
    }
}

extension FieldType {
    /// The element type of a list type, or the type itself.
    var element: FieldType {
        switch self {
        case .stringList: .string
        case .int64List: .int64
        case .doubleList: .double
        case .timestampList: .timestamp
        case .bytesList: .bytes
        case .locationList: .location
        case .referenceList: .reference
        case .assetList: .asset
        case .string, .int64, .double, .timestamp, .bytes, .location, .reference, .asset, .emptyList, .clear:
            self
        }
    }
}

extension FieldValue {
    /// The elements of a list, or the value itself.
    fileprivate var scalars: [FieldValue] {
        switch self {
        case .stringList(let texts): texts.map { .string($0) }
        case .int64List(let integers): integers.map { .int64($0) }
        case .doubleList(let doubles): doubles.map { .double($0) }
        case .timestampList(let seconds): seconds.map { .timestamp($0) }
        case .bytesList(let list): list.map { .bytes($0) }
        case .locationList(let locations): locations.map { .location($0) }
        case .referenceList(let references): references.map { .reference($0) }
        case .assetList(let assets): assets.map { .asset($0) }
        case .string, .int64, .double, .timestamp, .bytes, .location, .reference, .asset, .emptyList, .clear:
            [self]
        }
    }
}
