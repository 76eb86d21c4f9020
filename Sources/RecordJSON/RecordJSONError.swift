import RecordModel

/// An error in the text of records, and its position.
package struct RecordJSONError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case notUTF8
        /// The text ends within a value.
        case unfinished
        /// Has the expected syntax.
        case syntax(expected: String)
        case tooDeep(levelsMax: Int)
        case tooLarge(bytesMax: Int)
        case tooManyValues(max: Int)
        /// A duplicate name in an object, or a duplicate column.
        case duplicate(name: String)
        /// An unknown member or column.
        case unknown(name: String)
        case missing(name: String)
        /// A value of the wrong kind.
        case wrongValue(expected: String, found: String)
        case unknownType(String)
        case tooManyFields
        case tooManyElements
        case tooManyColumns(Int)
        case tooFewColumns(Int, of: Int)
    }

    package var position: TextPosition
    /// The field or member at fault; `nil` if there is none.
    package var field: String?
    package var reason: Reason

    package init(_ reason: Reason, at position: TextPosition, field: String? = nil) {
        self.reason = reason
        self.position = position
        self.field = field
    }

    /// The error without its position.
    package var text: String {
        let subject = self.field.map { "the field '\($0)'" }
        switch self.reason {
        case .notUTF8: return "the text is not UTF-8"
        case .unfinished: return "the text ends within a record"
        case .syntax(let expected): return "expected \(expected)"
        case .tooDeep(let levelsMax): return "the value has more than \(levelsMax) levels"
        case .tooLarge(let bytesMax): return "a record has at most \(bytesMax) bytes of text"
        case .tooManyValues(let max): return "a record has at most \(max) values"
        case .duplicate(let name): return "'\(name)' comes twice"
        case .unknown(let name): return "no record has '\(name)'"
        case .missing(let name): return "\(subject ?? "the record") has no '\(name)'"
        case .wrongValue(let expected, let found):
            return "\(subject ?? "the value") has to be \(expected), and is \(found)"
        case .unknownType(let name):
            return "\(subject ?? "the value") has the type '\(name)', which there is not"
        case .tooManyFields: return "the record has more fields than any may have"
        case .tooManyElements: return "\(subject ?? "the list") has more elements than a list may have"
        case .tooManyColumns(let count): return "the row has \(count) cells, more than the header names"
        case .tooFewColumns(let count, let columns):
            return "the row has \(count) \(count == 1 ? "cell" : "cells"), and the header names \(columns): "
                + "the file may be cut"
        }
    }
}

extension RecordJSONError: CustomStringConvertible {
    /// One line, even if names contain line breaks.
    package var description: String { PrintedText.line("\(self.position): \(self.text)") }
}
