import Foundation
import PredicateFormat
import RecordModel

/// The order of constants that have one.
enum FieldOrder {
    /// Compares two values of one type, or two numbers; `nil` if they have no order.
    static func compare(_ one: FieldValue, _ other: FieldValue) -> ComparisonResult? {
        switch (one, other) {
        case (.string(let one), .string(let other)): self.order(of: one, other)
        case (.int64(let one), .int64(let other)): self.order(of: one, other)
        case (.int64(let one), .double(let other)): self.order(of: one, other)
        case (.double(let one), .int64(let other)): self.order(of: other, one).map(self.reversed)
        case (.double(let one), .double(let other)): self.order(of: one, other)
        case (.timestamp(let one), .timestamp(let other)): self.order(of: one, other)
        case (.bytes(let one), .bytes(let other)): self.order(ofBytes: one, other)
        case (.reference(let one), .reference(let other)): self.order(of: one.recordName, other.recordName)
        default: nil
        }
    }

    /// Compares for sorting: an absent value is the least, and values without an order are equal.
    static func compare(_ one: ExpressionSyntax, _ other: ExpressionSyntax) -> ComparisonResult {
        switch (one, other) {
        case (.constant(.value(let one)), .constant(.value(let other))):
            self.compare(one, other) ?? .orderedSame
        case (.constant(.value), _): .orderedDescending
        case (_, .constant(.value)): .orderedAscending
        default: .orderedSame
        }
    }

    private static func order<Value: Comparable>(of one: Value, _ other: Value) -> ComparisonResult {
        if one < other { return .orderedAscending }
        return one == other ? .orderedSame : .orderedDescending
    }

    /// Compares exactly, without rounding the integer; `nil` for a NaN.
    private static func order(of integer: Int64, _ double: Double) -> ComparisonResult? {
        guard !double.isNaN else { return nil }
        if double >= 0x1p63 { return .orderedAscending }
        if double < -0x1p63 { return .orderedDescending }
        let whole = Int64(double.rounded(.down))
        if integer != whole { return self.order(of: integer, whole) }
        return double == double.rounded(.down) ? .orderedSame : .orderedAscending
    }

    private static func order(ofBytes one: [UInt8], _ other: [UInt8]) -> ComparisonResult {
        if one == other { return .orderedSame }
        return one.lexicographicallyPrecedes(other) ? .orderedAscending : .orderedDescending
    }

    private static func reversed(_ order: ComparisonResult) -> ComparisonResult {
        switch order {
        case .orderedAscending: .orderedDescending
        case .orderedSame: .orderedSame
        case .orderedDescending: .orderedAscending
        }
    }
}
