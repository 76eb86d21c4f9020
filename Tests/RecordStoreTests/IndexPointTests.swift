import RecordModel
import RecordStore
import TestSupport
import Testing

/// Operands between the values of a field.
struct IndexPointTests {
    private static let integers: [Int64] = [
        .min, .min + 1, -(1 << 53) - 1, -(1 << 53), -3, -1, 0, 1, 2, (1 << 53) - 1, 1 << 53, (1 << 53) + 1,
        .max - 1_024, .max - 1, .max,
    ]
    private static let doubles: [Double] = [
        -.greatestFiniteMagnitude, -0x1p63.nextUp, -0x1p63, (-0x1p63).nextDown, -0x1p53 - 2, -0x1p53, -3.5,
        -3, -0.5, -0.0, 0,
        .leastNonzeroMagnitude, 0.5, 1, 1.5, 0x1p53 - 1, 0x1p53, 0x1p53 + 2, 0x1p63.nextDown, 0x1p63,
        0x1p63.nextUp,
        .greatestFiniteMagnitude,
    ]

    @Test
    func `a field of integers is compared with doubles without rounding`() throws {
        for integer in Self.integers {
            for double in Self.doubles {
                let point = try #require(IndexPoint(.double(double), amongValuesOf: .int64))
                check(IndexValue.int64(integer), point, order(integer, double), "\(integer) \(double)")
            }
        }
    }

    @Test
    func `a field of doubles is compared with integers without rounding`() throws {
        for integer in Self.integers {
            let point = try #require(IndexPoint(.int64(integer), amongValuesOf: .double))
            for double in Self.doubles {
                check(IndexValue.double(double), point, -order(integer, double), "\(double) \(integer)")
            }
        }
    }

    @Test
    func `random numbers are compared without rounding`() throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        for _ in 0..<5_000 {
            let integer = Int64(bitPattern: generator.next()) >> Int64.random(in: 0..<64, using: &generator)
            let double = Double(integer) + [-1, -0.5, 0, 0.5, 1].randomElement(using: &generator)!
            let amongIntegers = try #require(IndexPoint(.double(double), amongValuesOf: .int64))
            check(IndexValue.int64(integer), amongIntegers, order(integer, double), "\(integer) \(double)")
            let amongDoubles = try #require(IndexPoint(.int64(integer), amongValuesOf: .doubleList))
            check(IndexValue.double(double), amongDoubles, -order(integer, double), "\(double) \(integer)")
        }
    }

    @Test
    func `values that were cut are in every range that they might belong to`() throws {
        let longest = String(repeating: "x", count: 1_000)
        let whole = try #require(IndexPoint(.string(String(longest.dropLast())), amongValuesOf: .string))
        #expect(!whole.isCut)
        #expect(!whole.above(orEqual: false).isInclusive)
        for operand in [longest, longest + "y"] {
            let point = try #require(IndexPoint(.string(operand), amongValuesOf: .string))
            #expect(point.isCut)
            #expect(point.above(orEqual: false).isInclusive)
            #expect(point.below(orEqual: false).isInclusive)
        }
    }

    @Test
    func `operands of other types have no place`() {
        #expect(IndexPoint(.string("1"), amongValuesOf: .int64) == nil)
        #expect(IndexPoint(.int64(1), amongValuesOf: .timestamp) == nil)
        #expect(IndexPoint(.double(1), amongValuesOf: .timestamp) == nil)
        #expect(IndexPoint(.timestamp(1), amongValuesOf: .double) == nil)
        #expect(IndexPoint(.bytes([1]), amongValuesOf: .string) == nil)
        #expect(IndexPoint(.stringList(["a"]), amongValuesOf: .stringList) == nil)
        #expect(IndexPoint(.timestamp(1), amongValuesOf: .timestampList)?.equal == IndexValue.double(1))
    }
}

/// Negative: the integer is less.
///
/// Exact: a double is compared with an integer by its whole part, then by the rest.
private func order(_ integer: Int64, _ double: Double) -> Int {
    guard double < 0x1p63 else { return -1 }
    guard double >= -0x1p63 else { return 1 }
    let whole = Int64(double.rounded(.down))
    if integer != whole { return integer < whole ? -1 : 1 }
    return double > double.rounded(.down) ? -1 : 0
}

/// Holds the ranges of a point against what a comparison says: negative when the value is below the operand.
private func check(_ value: [UInt8], _ point: IndexPoint, _ order: Int, _ place: Comment) {
    #expect((point.equal == value) == (order == 0), place)
    func isAbove(_ bound: IndexBound) -> Bool {
        value == bound.bytes ? bound.isInclusive : precedes(bound.bytes, value)
    }
    func isBelow(_ bound: IndexBound) -> Bool {
        value == bound.bytes ? bound.isInclusive : precedes(value, bound.bytes)
    }
    #expect(isAbove(point.above(orEqual: false)) == (order > 0), place)
    #expect(isAbove(point.above(orEqual: true)) == (order >= 0), place)
    #expect(isBelow(point.below(orEqual: false)) == (order < 0), place)
    #expect(isBelow(point.below(orEqual: true)) == (order <= 0), place)
}
