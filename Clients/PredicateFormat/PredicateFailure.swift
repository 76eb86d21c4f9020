/// Why a predicate cannot be evaluated.
package enum PredicateFailure: Error, Hashable, Sendable {
    /// Not in the format language, or beyond its bounds. The caller has to write it differently.
    ///
    /// `offset` counts bytes of UTF-8.
    case unparsable(format: String, offset: Int, problem: String)
    /// Valid syntax, but queries do not support it.
    case unsupported(predicate: String, problem: String)

    /// A text for people, in the form of Apple's.
    ///
    /// - Shape: less than `Bounds.messageBytesMax` bytes, because quotations are cut.
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
    /// The text or its beginning.
    ///
    /// Counted in scalars, because graphemes have no bound.
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

/// An error in a format, and its position.
struct FormatProblem: Error {
    var text: String
    /// Bytes of UTF-8 before it.
    var offset: Int
}
