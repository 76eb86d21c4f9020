package import RecordModel

extension ComparableValue {
    /// The values that a field offers to a comparison: one, or the elements of a list.
    package static func elements(of value: FieldValue) -> [ComparableValue] {
        switch value {
        case .string(let text): [.bytes(Array(text.utf8))]
        case .int64(let integer): [.integer(integer)]
        case .double(let double), .timestamp(let double): [.double(double)]
        case .bytes(let bytes): [.bytes(bytes)]
        case .location(let location): [.coordinate(location)]
        case .reference(let reference): [.bytes(Array(reference.recordName.utf8))]
        case .stringList(let texts): texts.map { .bytes(Array($0.utf8)) }
        case .int64List(let integers): integers.map { .integer($0) }
        case .doubleList(let doubles), .timestampList(let doubles): doubles.map { .double($0) }
        case .bytesList(let list): list.map { .bytes($0) }
        case .locationList(let locations): locations.map { .coordinate($0) }
        case .referenceList(let references): references.map { .bytes(Array($0.recordName.utf8)) }
        case .asset, .assetList, .emptyList, .clear: []
        }
    }

    static func coordinate(_ location: Location) -> ComparableValue {
        .coordinate(latitude: location.latitude, longitude: location.longitude)
    }
}

/// The value of another numeric type that is nearest to a number, and the side of the number that
/// it is on.
struct NearestNumber {
    enum Side {
        case below
        case exact
        case above
    }

    var value: ComparableValue
    var side: Side

    /// An integer among doubles.
    init(_ integer: Int64) {
        let nearest = Double(integer)
        self.value = .double(nearest)
        // Only 2^63 is not representable. It is above all integers of the type.
        guard let exact = Int64(exactly: nearest) else {
            self.side = .above
            return
        }
        self.side = exact == integer ? .exact : exact < integer ? .below : .above
    }

    /// A double among integers.
    ///
    /// Fails for NaN.
    init?(_ double: Double) {
        guard !double.isNaN else { return nil }
        let floor = double.rounded(.down)
        if let integer = Int64(exactly: floor) {
            self.value = .integer(integer)
            self.side = floor == double ? .exact : .below
        } else if double > 0 {
            self.value = .integer(.max)
            self.side = .below
        } else {
            self.value = .integer(.min)
            self.side = .above
        }
    }

    init(exactly value: ComparableValue) {
        self.value = value
        self.side = .exact
    }

    /// The values of the other type that are less or greater than the number.
    func range(_ comparator: Comparator) -> ValueRange {
        switch comparator {
        case .lessThan:
            ValueRange(upper: .init(value: self.value, isIncluded: self.side == .below))
        case .lessThanOrEquals:
            ValueRange(upper: .init(value: self.value, isIncluded: self.side != .above))
        case .greaterThan:
            ValueRange(lower: .init(value: self.value, isIncluded: self.side == .above))
        default:
            ValueRange(lower: .init(value: self.value, isIncluded: self.side != .below))
        }
    }
}
