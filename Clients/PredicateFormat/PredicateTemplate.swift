package import RecordModel

/// A predicate in a form that can be stored: a format without constants, and the constants.
///
/// Parsing it gives the same predicate, except that the numbers of one list then have one type.
package struct PredicateTemplate: Hashable, Sendable {
    package var format: String
    /// Texts for `%K`; values and lists for `%@`.
    package var arguments: [FieldValue]

    package init(format: String, arguments: [FieldValue]) {
        self.format = format
        self.arguments = arguments
    }

    /// Fails if a constant of the predicate cannot be the value of a field.
    package init?(_ predicate: PredicateSyntax) {
        var printer = FormatPrinter(.conversions)
        printer.write(predicate)
        guard printer.isComplete else { return nil }
        self.init(format: printer.text, arguments: printer.arguments)
    }
}

extension PredicateSyntax {
    /// Parses a stored predicate.
    package init(_ template: PredicateTemplate) throws(PredicateFailure) {
        try self.init(format: template.format, arguments: template.arguments.map { ExpressionSyntax($0) })
    }
}

extension ExpressionSyntax {
    /// A constant, or a list of constants.
    package init(_ value: FieldValue) {
        switch value {
        case .stringList(let list): self = .list(list.map { .value(.string($0)) })
        case .int64List(let list): self = .list(list.map { .value(.int64($0)) })
        case .doubleList(let list): self = .list(list.map { .value(.double($0)) })
        case .timestampList(let list): self = .list(list.map { .value(.timestamp($0)) })
        case .bytesList(let list): self = .list(list.map { .value(.bytes($0)) })
        case .locationList(let list): self = .list(list.map { .value(.location($0)) })
        case .referenceList(let list): self = .list(list.map { .value(.reference($0)) })
        case .assetList(let list): self = .list(list.map { .value(.asset($0)) })
        case .emptyList: self = .list([])
        case .clear: self = .constant(.null)
        case .string, .int64, .double, .timestamp, .bytes, .location, .reference, .asset: self = .value(value)
        }
    }
}
