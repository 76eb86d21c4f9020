package import RecordModel
import StorageContract

/// The encoding of index values: the order of the bytes is the order of the values.
///
///     STRING, BYTES     the first 1,000 bytes
///     INT64             8 bytes with the sign bit inverted
///     DOUBLE, TIMESTAMP 8 bytes of IEEE 754; all bits inverted if negative, otherwise only
///                       the sign bit; -0 is 0
///     NUMBER            a double as DOUBLE; an integer as the greatest double not above it, and
///                       2 bytes more with the difference, unless it is 0
///     REFERENCE         the record name
///     LOCATION          8 bytes, the position on the Z-order curve (`LocationCell`)
///     LIST<…>           an entry for each distinct element
package enum IndexValue {
    /// Longer texts and byte strings are cut.
    ///
    /// An entry of this length may stand for several values.
    package static let bytesMax = IndexEntry.valueBytesMax

    package static func string(_ string: String) -> [UInt8] { Array(string.utf8.prefix(self.bytesMax)) }

    package static func bytes(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.prefix(self.bytesMax)) }

    package static func int64(_ integer: Int64) -> [UInt8] {
        self.bigEndian(UInt64(bitPattern: integer) ^ 1 << 63)
    }

    /// A body cannot contain numbers that are not finite, but they have an order: NaN comes last.
    package static func double(_ double: Double) -> [UInt8] {
        let bits = double == 0 ? 0 : double.isNaN ? Double.nan.bitPattern : double.bitPattern
        return self.bigEndian(bits >> 63 == 0 ? bits | 1 << 63 : ~bits)
    }

    /// An integer among the values of a `NUMBER`.
    package static func number(_ integer: Int64) -> [UInt8] {
        var floor = Double(integer)
        // The conversion rounded up, possibly to 2^63, which does not fit into an `Int64`.
        if Int64(exactly: floor).map({ $0 > integer }) ?? true { floor = floor.nextDown }
        let rest = UInt16(truncatingIfNeeded: integer - Int64(floor))
        let bytes = self.double(floor)
        return rest == 0 ? bytes : bytes + [UInt8(rest >> 8), UInt8(truncatingIfNeeded: rest)]
    }

    package static func reference(_ recordName: String) -> [UInt8] { Array(recordName.utf8) }

    package static func location(_ location: Location) -> [UInt8] {
        self.bigEndian(LocationCell(location).zOrder)
    }

    /// A date of the server's clock, in milliseconds since 1970, as a client sees it in a
    /// `TIMESTAMP`.
    package static func time(milliseconds: Int64) -> [UInt8] {
        self.double(ServerDate.seconds(milliseconds: milliseconds))
    }

    /// The entries of a field's value, unordered, without repetition.
    ///
    /// Empty lists and absent values have none.
    package static func entries(of value: FieldValue, isNumber: Bool = false) -> [[UInt8]] {
        switch value {
        case .string(let string): [self.string(string)]
        case .int64(let integer) where isNumber: [self.number(integer)]
        case .int64(let integer): [self.int64(integer)]
        case .double(let double), .timestamp(let double): [self.double(double)]
        case .bytes(let bytes): [self.bytes(bytes)]
        case .location(let location): [self.location(location)]
        case .reference(let reference): [self.reference(reference.recordName)]
        case .stringList(let list): self.distinct(list) { self.string($0) }
        case .int64List(let list): self.distinct(list) { self.int64($0) }
        case .doubleList(let list), .timestampList(let list): self.distinct(list) { self.double($0) }
        case .bytesList(let list): self.distinct(list) { self.bytes($0) }
        case .locationList(let list): self.distinct(list) { self.location($0) }
        case .referenceList(let list): self.distinct(list) { self.reference($0.recordName) }
        case .asset, .assetList, .emptyList, .clear: []
        }
    }

    private static func distinct<Element>(
        _ list: [Element],
        _ encode: (Element) -> [UInt8]
    ) -> [[UInt8]] {
        Array(Set(list.lazy.map(encode)))
    }

    /// The least value above all that begin with these bytes, or `nil` if there is none.
    package static func end(ofPrefix prefix: [UInt8]) -> [UInt8]? {
        var end = prefix
        while let last = end.popLast() {
            if last < 0xFF {
                end.append(last + 1)
                return end
            }
        }
        return nil
    }

    static func bigEndian(_ bits: UInt64) -> [UInt8] {
        [
            UInt8(truncatingIfNeeded: bits >> 56), UInt8(truncatingIfNeeded: bits >> 48),
            UInt8(truncatingIfNeeded: bits >> 40), UInt8(truncatingIfNeeded: bits >> 32),
            UInt8(truncatingIfNeeded: bits >> 24), UInt8(truncatingIfNeeded: bits >> 16),
            UInt8(truncatingIfNeeded: bits >> 8), UInt8(truncatingIfNeeded: bits),
        ]
    }
}

/// A point on the globe as two 32-bit numbers: a grid of 4.7 mm by at most 9.4 mm.
package struct LocationCell: Hashable, Sendable {
    /// Counted from the south pole.
    package var latitude: UInt32
    /// Counted eastward from the date line.
    package var longitude: UInt32

    package init(latitude: UInt32, longitude: UInt32) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// The cell of a point.
    ///
    /// A point beyond the poles or the date line gets the nearest cell.
    package init(_ location: Location) {
        self.init(
            latitude: Self.cell(location.latitude + 90, of: 180),
            longitude: Self.cell(location.longitude + 180, of: 360)
        )
    }

    /// The interleaved bits of longitude and latitude, from the highest, longitude first.
    package var zOrder: UInt64 { Self.spread(self.longitude) << 1 | Self.spread(self.latitude) }

    private static func cell(_ degrees: Double, of all: Double) -> UInt32 {
        UInt32(max(0, min(degrees / all * 0x1p32, 0x1p32 - 1)))
    }

    /// Inserts a zero before each bit.
    private static func spread(_ bits: UInt32) -> UInt64 {
        var spread = UInt64(bits)
        spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF
        spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
        spread = (spread | spread << 4) & 0x0F0F_0F0F_0F0F_0F0F
        spread = (spread | spread << 2) & 0x3333_3333_3333_3333
        return (spread | spread << 1) & 0x5555_5555_5555_5555
    }
}
