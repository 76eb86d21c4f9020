package import RecordModel

/// One end of a range of entries.
package struct IndexBound: Hashable, Sendable {
    package var bytes: [UInt8]
    /// Whether entries of exactly these bytes belong to the range.
    package var isInclusive: Bool

    package init(bytes: [UInt8], isInclusive: Bool) {
        self.bytes = bytes
        self.isInclusive = isInclusive
    }
}

/// Where an operand lies among the values of a field, also when it is none of them.
///
/// A field of whole numbers is compared with 2.5, one of doubles with 2^53 + 1: no operand is ever rounded.
package struct IndexPoint: Hashable, Sendable {
    /// The least value of the field's type that is not below the operand; above all of them when there is none.
    package let bytes: [UInt8]
    /// Whether that value is the operand.
    package let isExact: Bool
    /// Whether entries of these bytes may stand for longer values: who reads them has to look at the record.
    package let isCut: Bool

    /// Above every number.
    private static let aboveNumbers = [UInt8](repeating: 0xFF, count: 9)

    private init(_ bytes: [UInt8], isExact: Bool = true) {
        self.bytes = bytes
        self.isExact = isExact
        self.isCut = bytes.count == IndexValue.bytesMax
    }

    /// `nil` when a field of the type is not compared with such an operand.
    ///
    /// For a list type it is the place among the elements.
    package init?(_ operand: FieldValue, amongValuesOf type: FieldType) {
        switch (type, operand) {
        case (.string, .string(let string)), (.stringList, .string(let string)):
            self.init(IndexValue.string(string))
        case (.int64, .int64(let integer)), (.int64List, .int64(let integer)):
            self.init(IndexValue.int64(integer))
        case (.int64, .double(let double)), (.int64List, .double(let double)):
            self.init(double, amongIntegers: ())
        case (.double, .double(let double)), (.doubleList, .double(let double)),
            (.timestamp, .timestamp(let double)), (.timestampList, .timestamp(let double)):
            self.init(IndexValue.double(double))
        case (.double, .int64(let integer)), (.doubleList, .int64(let integer)):
            self.init(integer, amongDoubles: ())
        case (.bytes, .bytes(let bytes)), (.bytesList, .bytes(let bytes)):
            self.init(IndexValue.bytes(bytes))
        case (.reference, .reference(let reference)), (.referenceList, .reference(let reference)):
            self.init(IndexValue.reference(reference.recordName))
        case (.location, .location(let location)), (.locationList, .location(let location)):
            // A cell is not a point: other places have the same bytes.
            self.init(IndexValue.location(location))
        default: return nil
        }
    }

    private init(_ double: Double, amongIntegers: Void) {
        let ceiling = double.rounded(.up)
        if let integer = Int64(exactly: ceiling) {
            self.init(IndexValue.int64(integer), isExact: ceiling == double)
        } else if ceiling < 0 {
            self.init(IndexValue.int64(.min), isExact: false)
        } else {
            self.init(Self.aboveNumbers, isExact: false)
        }
    }

    private init(_ integer: Int64, amongDoubles: Void) {
        let nearest = Double(integer)
        // 2^63, to which the greatest integers round, is no Int64: it is above all of them.
        if let back = Int64(exactly: nearest) {
            let isBelow = back < integer
            self.init(IndexValue.double(isBelow ? nearest.nextUp : nearest), isExact: back == integer)
        } else {
            self.init(IndexValue.double(nearest), isExact: false)
        }
    }

    /// The bytes of equal entries; `nil`: no value of the field's type equals the operand.
    package var equal: [UInt8]? { self.isExact ? self.bytes : nil }

    /// The lower end of the values above the operand, or not below it.
    ///
    /// Values that were cut are included when they might belong to the range (`isCut`).
    package func above(orEqual: Bool) -> IndexBound {
        IndexBound(bytes: self.bytes, isInclusive: orEqual || !self.isExact || self.isCut)
    }

    /// The upper end of the values below the operand, or not above it; as `above`.
    package func below(orEqual: Bool) -> IndexBound {
        IndexBound(bytes: self.bytes, isInclusive: self.isExact && (orEqual || self.isCut))
    }
}
