/// A JSON value, and its position.
///
/// Numbers are kept as text, so that no digit is lost before the type is known.
package struct JSONNode: Hashable, Sendable {
    package indirect enum Value: Hashable, Sendable {
        case null
        case bool(Bool)
        case number(String)
        case string(String)
        case array([JSONNode])
        /// In the order of the text; names are unique.
        case object([Member])
    }

    package struct Member: Hashable, Sendable {
        package var name: String
        /// The position of the name.
        package var position: TextPosition
        package var node: JSONNode
    }

    package var position: TextPosition
    package var value: Value

    /// The kind of value, for errors.
    package var kind: String {
        switch self.value {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a text"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// A position in a text: line and byte in the line, both from 1.
package struct TextPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (left: TextPosition, right: TextPosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    package var description: String { "line \(self.line), column \(self.column)" }
}
