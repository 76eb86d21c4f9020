import RecordModel
import Testing

/// Bytes that another Protocol Buffers writer might send and that are not the one permitted encoding.
@Suite struct CanonicalFormTests {
    struct Violation: Sendable, CustomTestStringConvertible {
        var name: String
        /// Contents of the value part of a field, its tag included.
        var value: [UInt8]
        var error: BodyError

        var testDescription: String { self.name }

        init(_ name: String, _ value: [UInt8], _ error: BodyError = .malformed) {
            self.name = name
            self.value = value
            self.error = error
        }
    }

    private static let invalid = BodyError.valueInvalid(field: "a")

    static let violations: [Violation] = [
        Violation("no value", []),
        Violation("two values", [0x20, 0x02, 0x20, 0x02]),
        Violation("encrypted that is false", [0x10, 0x00, 0x20, 0x02]),
        Violation("encrypted twice", [0x10, 0x01, 0x10, 0x01, 0x20, 0x02]),
        Violation("encrypted after the value", [0x20, 0x02, 0x10, 0x01]),
        Violation("an unknown number", [0x50, 0x01]),
        Violation("a known number with another wire type", [0x22, 0x01, 0x02]),
        Violation("a tag that is not minimal", [0xA0, 0x00, 0x02]),
        Violation("an integer that is not minimal", [0x20, 0x82, 0x00]),
        Violation(
            "an integer above 64 bits",
            [0x20, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02]
        ),
        Violation("an integer of 11 bytes", [0x20] + [UInt8](repeating: 0xFF, count: 10) + [0x01]),
        Violation("a length beyond the field", [0x1A, 0x02, 0x61]),
        Violation("a length of 2^64-1", [0x1A] + [UInt8](repeating: 0xFF, count: 9) + [0x01]),
        Violation("text that is not UTF-8", [0x1A, 0x02, 0xC3, 0x28], Self.invalid),
        Violation("a surrogate in text", [0x1A, 0x03, 0xED, 0xA0, 0x80], Self.invalid),
        Violation("a number that is not finite", [0x29, 0, 0, 0, 0, 0, 0, 0xF0, 0x7F], Self.invalid),
        Violation("a date that is no number", [0x31, 0, 0, 0, 0, 0, 0, 0xF8, 0x7F], Self.invalid),
        Violation("a place beyond the pole", Self.place(number: 1, 90.000_001), Self.invalid),
        Violation("a place beyond the date line", Self.place(number: 2, -180.000_001), Self.invalid),
        Violation("a part of a place that is 0", Self.place(number: 3, 0)),
        Violation("an unknown part of a place", Self.place(number: 9, 1)),
        Violation(
            "the parts of a place out of order",
            [0x42, 18] + Self.place(number: 2, 1).dropFirst(2) + Self.place(number: 1, 1).dropFirst(2)
        ),
        Violation("a reference without a name", [0x4A, 0x00], Self.invalid),
        Violation(
            "a reference with an empty name",
            [0x4A, 0x02, 0x0A, 0x00],
            .recordNameInvalid(field: "a", name: "")
        ),
        Violation("an action that is 0", [0x4A, 0x05, 0x0A, 0x01, 0x62, 0x18, 0x00], Self.invalid),
        Violation("an action that is unknown", [0x4A, 0x05, 0x0A, 0x01, 0x62, 0x18, 0x03], Self.invalid),
        Violation("the parts of a reference out of order", [0x4A, 0x05, 0x18, 0x01, 0x0A, 0x01, 0x62]),
        Violation("an empty zone name", [0x4A, 0x07, 0x0A, 0x01, 0x62, 0x12, 0x02, 0x0A, 0x00]),
        Violation("a list of numbers that is not packed", [0x92, 0x01, 0x02, 0x08, 0x02]),
        Violation("a list of numbers in two parts", [0x92, 0x01, 0x06, 0x0A, 0x01, 0x02, 0x0A, 0x01, 0x02]),
        Violation("an empty packed part", [0x92, 0x01, 0x02, 0x0A, 0x00]),
        Violation("half a number in a list", [0x9A, 0x01, 0x03, 0x0A, 0x01, 0x02]),
        Violation("an unknown number in a list", [0x8A, 0x01, 0x02, 0x12, 0x00]),
        Violation("an empty list that is false", [0xF0, 0x01, 0x00], Self.invalid),
        Violation("a clear that is false", [0xF8, 0x01, 0x00], Self.invalid),
        Violation("an empty list that is 2", [0xF0, 0x01, 0x02], Self.invalid),
    ]

    @Test(arguments: Self.violations)
    func `a value in another form is refused`(violation: Violation) {
        #expect(throws: violation.error) {
            try RecordBody(checking: Self.field(violation.value), allowsClear: true)
        }
    }

    @Test func `the same field in the permitted form passes`() throws {
        _ = try RecordBody(checking: Self.field([0x20, 0x02]), allowsClear: false)
        _ = try RecordBody(checking: Self.field(Self.place(number: 1, 90)), allowsClear: false)
        _ = try RecordBody(checking: Self.field(Self.place(number: 2, -180)), allowsClear: false)
    }

    @Test func `names that do not ascend strictly are refused`() {
        let one = Self.field([0x20, 0x02])
        #expect(throws: BodyError.fieldOrder("a")) {
            try RecordBody(checking: one + one, allowsClear: false)
        }
        let later = RecordBody([Field(name: "b", value: .int64(1))]).bytes
        #expect(throws: BodyError.fieldOrder("a")) {
            try RecordBody(checking: later + one, allowsClear: false)
        }
        #expect(throws: Never.self) { try RecordBody(checking: one + later, allowsClear: false) }
    }

    @Test(arguments: ["1a", "_a", "a-b", "ä", "a b", "$a"])
    func `a name that is no identifier is refused`(name: String) {
        let bytes = RecordBody([Field(name: name, value: .int64(1))]).bytes
        #expect(throws: BodyError.fieldNameInvalid(name)) {
            try RecordBody(checking: bytes, allowsClear: false)
        }
    }

    /// A body of one field `a`.
    private static func field(_ value: [UInt8]) -> [UInt8] {
        let contents = [0x0A, 0x01, 0x61] + value
        return [0x0A, UInt8(contents.count)] + contents
    }

    /// A place with one part.
    private static func place(number: UInt8, _ part: Double) -> [UInt8] {
        let bits = part.bitPattern
        return [0x42, 0x09, number << 3 | 1] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
    }
}
