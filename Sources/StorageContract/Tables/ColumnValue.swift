/// A value in a row of a declared table.
///
/// Values of one column have one order, which every engine keeps: `null` first, then integers by
/// number, text by the bytes of its UTF-8, and bytes by value, a shorter one before a longer one that
/// begins with it. No language has a say in it. Values are equal if neither is before the other: two
/// texts only if their bytes are.
@usableFromInline
package enum ColumnValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}

extension ColumnValue {
    @usableFromInline
    package static func == (left: ColumnValue, right: ColumnValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        // Strings are equal also where only their letters are.
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.bytes(let left), .bytes(let right)): left == right
        default: false
        }
    }
}

extension ColumnValue: Comparable {
    @usableFromInline
    package static func < (left: ColumnValue, right: ColumnValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
        default: left.rank < right.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer: 1
        case .text: 2
        case .bytes: 3
        }
    }
}

/// A type that a column can have in a Swift struct.
@usableFromInline
package protocol ColumnConvertible {
    /// `nil` if the value is none of the type.
    init?(columnValue: ColumnValue)
    var columnValue: ColumnValue { get }
}

extension Int64: ColumnConvertible {
    @inlinable
    package init?(columnValue: ColumnValue) {
        guard case .integer(let number) = columnValue else { return nil }
        self = number
    }

    @inlinable package var columnValue: ColumnValue { .integer(self) }
}

extension String: ColumnConvertible {
    @inlinable
    package init?(columnValue: ColumnValue) {
        guard case .text(let text) = columnValue else { return nil }
        self = text
    }

    @inlinable package var columnValue: ColumnValue { .text(self) }
}

extension [UInt8]: ColumnConvertible {
    @inlinable
    package init?(columnValue: ColumnValue) {
        guard case .bytes(let bytes) = columnValue else { return nil }
        self = bytes
    }

    @inlinable package var columnValue: ColumnValue { .bytes(self) }
}

/// An integer column: 0 is false.
extension Bool: ColumnConvertible {
    @inlinable
    package init?(columnValue: ColumnValue) {
        guard case .integer(let number) = columnValue else { return nil }
        self = number != 0
    }

    @inlinable package var columnValue: ColumnValue { .integer(self ? 1 : 0) }
}

extension Optional: ColumnConvertible where Wrapped: ColumnConvertible {
    @inlinable
    package init?(columnValue: ColumnValue) {
        guard columnValue != .null else {
            self = .none
            return
        }
        guard let wrapped = Wrapped(columnValue: columnValue) else { return nil }
        self = wrapped
    }

    @inlinable package var columnValue: ColumnValue { self?.columnValue ?? .null }
}

extension ColumnConvertible where Self: RawRepresentable, RawValue == Int64 {
    @inlinable
    package init?(columnValue: ColumnValue) {
        guard case .integer(let number) = columnValue else { return nil }
        self.init(rawValue: number)
    }

    @inlinable package var columnValue: ColumnValue { .integer(self.rawValue) }
}

extension DatabaseID: ColumnConvertible {}
extension EnvironmentID: ColumnConvertible {}
extension UserNumber: ColumnConvertible {}
