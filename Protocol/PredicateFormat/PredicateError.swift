/// Why a predicate can't be evaluated.
package enum PredicateError: Error, Hashable, Sendable {
    /// Not of the format language, or beyond its bounds: write it differently.
    ///
    /// `offset` counts bytes of UTF-8.
    case unparsable(format: String, offset: Int, problem: String)
    /// Well said, but nothing that a query can ask.
    case unsupported(predicate: String, problem: String)

    /// A text for people, in the form of Apple's.
    ///
    /// - Shape: at most `Bounds.messageBytesMax` bytes or so: long predicates are cut.
    package var text: String {
        switch self {
        case .unparsable(let format, let offset, let problem):
            "Unable to parse the format string \"\(Self.cut(format))\": \(problem) at \(offset)"
        case .unsupported(let predicate, let problem):
            "Invalid predicate: \(Self.cut(predicate)) (\(problem))"
        }
    }

    private static func cut(_ text: String) -> String {
        let charactersMax = 160
        return text.count <= charactersMax ? text : "\(text.prefix(charactersMax))…"
    }
}

/// What is wrong with a format, and where.
struct FormatProblem: Error {
    var text: String
    /// Bytes of UTF-8 before it.
    var offset: Int
}
