import PredicateFormat
import RecordModel
import Testing

/// The instant that `now()` stands for in the tests, in seconds since 2001.
let now = 700_000_000.25

/// A format with arguments, and what a query asks by it.
struct Accepted: Sendable, CustomTestStringConvertible {
    let format: String
    let arguments: [FieldValue]
    let predicate: Predicate

    init(_ format: String, _ arguments: FieldValue..., means predicate: Predicate) {
        self.format = format
        self.arguments = arguments
        self.predicate = predicate
    }

    var testDescription: String { self.format }
}

/// A format with arguments, and a part of the text of its error.
struct Rejected: Sendable, CustomTestStringConvertible {
    let format: String
    let arguments: [FieldValue]
    let text: String

    init(_ format: String, _ arguments: FieldValue..., because text: String) {
        self.format = format
        self.arguments = arguments
        self.text = text
    }

    var testDescription: String { self.format }
}

/// The predicate of a query with a format.
func predicate(_ format: String, _ arguments: [FieldValue] = []) throws(PredicateFailure) -> Predicate {
    let syntax = try PredicateSyntax(format: format, arguments: arguments.map { ExpressionSyntax($0) })
    return try Predicate(syntax, nowSeconds: now)
}

/// The text of the error of a format; `nil` when it has none.
func refusal(_ format: String, _ arguments: [FieldValue] = []) -> String? {
    do throws(PredicateFailure) {
        _ = try predicate(format, arguments)
        return nil
    } catch {
        return error.text
    }
}

func compare(_ field: String, _ comparator: Comparator, _ operand: FieldValue) -> Predicate {
    .comparison(Comparison(field: field, comparator: comparator, operand: operand))
}

func near(_ field: String, _ place: Location, metres: Double) -> Predicate {
    .comparison(
        Comparison(field: field, comparator: .near, operand: .location(place), distanceMetres: metres)
    )
}

func reference(_ name: String) -> FieldValue { .reference(Reference(recordName: name, action: .none)) }

let place = Location(latitude: 52.5, longitude: 13.4)
