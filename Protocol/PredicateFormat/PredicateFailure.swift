/// Why a predicate can't be evaluated.
package enum PredicateFailure: Error, Hashable, Sendable {
    /// Not of the format language, or beyond its bounds: write it differently.
    ///
    /// `offset` counts bytes of UTF-8.
    case unparsable(format: String, offset: Int, problem: String)
    /// Well said, but nothing that a query can ask.
    case unsupported(predicate: String, problem: String)

    /// A text for people, in the form of Apple's.
    ///
    /// - Shape: less than `Bounds.messageBytesMax` bytes, as what it quotes is cut.
    package var text: String {
        switch self {
        case .unparsable(let format, let offset, let problem):
            "Unable to parse the format string \"\(format.cut(to: 120))\": \(problem) at \(offset)"
        case .unsupported(let predicate, let problem):
            "Invalid predicate: \(predicate.cut(to: 120)) (\(problem))"
        }
    }
}

extension String {
    /// The text, or its beginning: graphemes have no bound, scalars do.
    func cut(to scalarsMax: Int = 40) -> String {
        let scalars = self.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: scalarsMax, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else {
            return self
        }
        return "\(String(scalars[..<end]))…"
    }
}

/// What is wrong with a format, and where.
struct FormatProblem: Error {
    var text: String
    /// Bytes of UTF-8 before it.
    var offset: Int
}
