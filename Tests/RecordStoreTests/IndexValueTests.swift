import RecordModel
import RecordStore
import TestSupport
import Testing

/// The order of the bytes is the order of the values.
struct IndexValueTests {
    private static let integers: [Int64] = [
        .min, .min + 1, -(1 << 53) - 1, -(1 << 53), -256, -255, -1, 0, 1, 255, 256, (1 << 53) - 1, 1 << 53,
        (1 << 53) + 1, .max - 1, .max,
    ]
    private static let doubles: [Double] = [
        -.infinity, -.greatestFiniteMagnitude, -0x1p63, -1.5, -1, -.leastNonzeroMagnitude, 0,
        .leastNonzeroMagnitude, .leastNormalMagnitude, 1, 1.5, 0x1p53, 0x1p63, .greatestFiniteMagnitude,
        .infinity, .nan,
    ]

    @Test
    func `integers and doubles ascend with their bytes, the extreme ones included`() {
        for (left, right) in zip(Self.integers, Self.integers.dropFirst()) {
            #expect(precedes(IndexValue.int64(left), IndexValue.int64(right)), "\(left) \(right)")
        }
        for (left, right) in zip(Self.doubles, Self.doubles.dropFirst()) {
            #expect(precedes(IndexValue.double(left), IndexValue.double(right)), "\(left) \(right)")
        }
        #expect(IndexValue.double(-0.0) == IndexValue.double(0))
        #expect(IndexValue.double(-.nan) == IndexValue.double(.nan))
    }

    /// Integers and doubles from the least to the greatest, equal ones in one row.
    private static let numbers: [[FieldValue]] = [
        [.double(-.greatestFiniteMagnitude)], [.double(-0x1p63 - 2048)], [.int64(.min), .double(-0x1p63)],
        [.int64(.min + 1)], [.int64(.min + 1_023)], [.int64(.min + 1_024), .double(-0x1p63 + 1_024)],
        [.int64(-(1 << 53) - 2), .double(-0x1p53 - 2)], [.int64(-(1 << 53) - 1)],
        [.int64(-(1 << 53)), .double(-0x1p53)], [.int64(-(1 << 53) + 1), .double(-0x1p53 + 1)],
        [.double(-1.5)], [.int64(-1), .double(-1)], [.double(-.leastNonzeroMagnitude)],
        [.int64(0), .double(0), .double(-0.0)], [.double(.leastNonzeroMagnitude)], [.double(0.5)],
        [.int64(1), .double(1)], [.double(1.5)], [.int64(2), .double(2)], [.int64(255)], [.int64(256)],
        [.int64(1 << 53), .double(0x1p53)], [.int64((1 << 53) + 1)],
        [.int64((1 << 53) + 2), .double(0x1p53 + 2)], [.int64(.max - 1_024)],
        [.int64(.max - 1_023), .double(0x1p63 - 1_024)], [.int64(.max - 1_022)], [.int64(.max - 1)],
        [.int64(.max)], [.double(0x1p63)], [.double(.greatestFiniteMagnitude)],
    ]

    @Test
    func `integers and doubles of a number are in one order, exactly, in an index and without`() {
        func entry(_ value: FieldValue) -> [UInt8] { IndexValue.entries(of: value, isNumber: true)[0] }
        for (row, values) in Self.numbers.enumerated() {
            for (other, others) in Self.numbers.enumerated() {
                for (value, than) in values.flatMap({ value in others.map { (value, $0) } }) {
                    #expect(precedes(entry(value), entry(than)) == (row < other), "\(value) \(than)")
                    let (left, right) = (
                        ComparableValue.elements(of: value)[0], ComparableValue.elements(of: than)[0]
                    )
                    #expect((left < right) == (row < other) && (left == right) == (row == other))
                    if row == other {
                        #expect(entry(value) == entry(than) && left.hashValue == right.hashValue)
                    }
                }
            }
        }
        #expect(IndexValue.entries(of: .double(1.5), isNumber: true) == [IndexValue.double(1.5)])
    }

    @Test
    func `random integers of a number are ordered as their bytes are`() {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        for _ in 0..<10_000 {
            let bits = Int.random(in: 1...64, using: &generator)
            let one = Int64(bitPattern: generator.next()) >> (64 - bits)
            let two = one &+ Int64.random(in: -3_000...3_000, using: &generator)
            #expect((one < two) == precedes(IndexValue.number(one), IndexValue.number(two)), "\(one) \(two)")
            let double = Double(two)
            let isBelow = ComparableValue.integer(one) < .double(double)
            #expect(
                isBelow == precedes(IndexValue.number(one), IndexValue.double(double)),
                "\(one) \(double)"
            )
        }
    }

    @Test
    func `random values are ordered as their bytes are`() {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        for _ in 0..<10_000 {
            let (a, b) = (Int64(bitPattern: generator.next()), Int64(bitPattern: generator.next()))
            #expect((a < b) == precedes(IndexValue.int64(a), IndexValue.int64(b)), "\(a) \(b)")
            let (c, d) = (Double(bitPattern: generator.next()), Double(bitPattern: generator.next()))
            if !c.isNaN, !d.isNaN {
                #expect((c < d) == precedes(IndexValue.double(c), IndexValue.double(d)), "\(c) \(d)")
            }
            let (e, f) = (Self.text(&generator), Self.text(&generator))
            let isBefore = e.utf8.lexicographicallyPrecedes(f.utf8)
            #expect(isBefore == precedes(IndexValue.string(e), IndexValue.string(f)), "\(e) \(f)")
        }
    }

    private static func text(_ generator: inout SeededGenerator) -> String {
        let scalars: [Unicode.Scalar] = ["a", "b", "\u{0}", "\u{7F}", "ä", "\u{FFFF}", "\u{10FFFF}"]
        let count = Int.random(in: 0..<5, using: &generator)
        return String(
            String.UnicodeScalarView((0..<count).map { _ in scalars.randomElement(using: &generator)! })
        )
    }

    @Test
    func `texts and byte strings are cut after 1,000 bytes`() {
        for count in [999, 1_000, 1_001] {
            let bytes = [UInt8](repeating: 120, count: count)
            #expect(IndexValue.bytes(bytes).count == min(count, 1_000))
            #expect(IndexValue.string(String(decoding: bytes, as: UTF8.self)).count == min(count, 1_000))
        }
    }

    @Test
    func `dates of the server are what a client sees in them`() {
        #expect(IndexValue.time(milliseconds: 978_307_200_000) == IndexValue.double(0))
        #expect(IndexValue.time(milliseconds: 978_307_200_250) == IndexValue.double(0.25))
        #expect(IndexValue.time(milliseconds: 978_307_199_999) == IndexValue.double(-0.001))
    }

    @Test
    func `a list has an entry for each distinct element, an empty one has none`() {
        let entries = IndexValue.entries(of: .doubleList([1, 0, -0.0, 1]))
        #expect(Set(entries) == [IndexValue.double(1), IndexValue.double(0)])
        #expect(entries.count == 2)
        let long = String(repeating: "x", count: 1_000)
        #expect(IndexValue.entries(of: .stringList([long, long + "y"])) == [IndexValue.string(long)])
        #expect(IndexValue.entries(of: .stringList([])).isEmpty)
        #expect(IndexValue.entries(of: .emptyList).isEmpty)
        let references = [
            Reference(recordName: "a", action: .none), Reference(recordName: "a", action: .validate),
        ]
        #expect(IndexValue.entries(of: .referenceList(references)) == [Array("a".utf8)])
    }

    @Test
    func `the end of a prefix is the least text above all that begin with it`() {
        #expect(IndexValue.end(ofPrefix: [97, 98]) == [97, 99])
        #expect(IndexValue.end(ofPrefix: [97, 0xFF, 0xFF]) == [98])
        #expect(IndexValue.end(ofPrefix: [0xFF]) == nil)
        #expect(IndexValue.end(ofPrefix: []) == nil)
    }

    @Test
    func `places are on the Z-order curve, corners included`() {
        func zOrder(_ latitude: Double, _ longitude: Double) -> UInt64 {
            LocationCell(Location(latitude: latitude, longitude: longitude)).zOrder
        }
        #expect(zOrder(-90, -180) == 0)
        #expect(zOrder(90, 180) == .max)
        #expect(zOrder(0, 0) == 0xC000_0000_0000_0000)
        #expect(zOrder(-0.0, -0.0) == zOrder(0, 0))
        #expect(LocationCell(latitude: 0, longitude: .max).zOrder == 0xAAAA_AAAA_AAAA_AAAA)
        #expect(LocationCell(latitude: .max, longitude: 0).zOrder == 0x5555_5555_5555_5555)
        #expect(
            IndexValue.location(Location(latitude: 90, longitude: -180)) == [UInt8](repeating: 0x55, count: 8)
        )
    }

    @Test
    func `cells within a rectangle lie between its corners on the curve`() {
        var generator = SeededGenerator.fromEnvironment()
        for _ in 0..<1_000 {
            func pair() -> (UInt32, UInt32) {
                let (a, b) = (
                    UInt32.random(in: .min ... .max, using: &generator),
                    UInt32.random(in: .min ... .max, using: &generator)
                )
                return (min(a, b), max(a, b))
            }
            let (latitudes, longitudes) = (pair(), pair())
            let inside = LocationCell(
                latitude: .random(in: latitudes.0...latitudes.1, using: &generator),
                longitude: .random(in: longitudes.0...longitudes.1, using: &generator)
            )
            let low = LocationCell(latitude: latitudes.0, longitude: longitudes.0)
            let high = LocationCell(latitude: latitudes.1, longitude: longitudes.1)
            #expect((low.zOrder...high.zOrder).contains(inside.zOrder), "\(low) \(inside) \(high)")
        }
    }
}

func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }
