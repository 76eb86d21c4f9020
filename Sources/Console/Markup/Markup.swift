/// HTML in which literals of the program are the only unescaped parts.
///
/// A literal is a `StaticString`, so no text of a record can become one. Everything that is
/// interpolated is escaped, unless it is markup itself.
struct Markup: ExpressibleByStringInterpolation, Sendable {
    typealias StringLiteralType = StaticString

    private(set) var html: String

    init(stringLiteral literal: StaticString) { self.html = literal.description }

    init(stringInterpolation: StringInterpolation) { self.html = stringInterpolation.html }

    /// All parts, one after another.
    init(_ parts: some Sequence<Markup>) { self.html = parts.reduce(into: "") { $0 += $1.html } }

    static let empty: Markup = ""

    var isEmpty: Bool { self.html.isEmpty }

    static func + (left: Markup, right: Markup) -> Markup { "\(left)\(right)" }

    static func += (left: inout Markup, right: Markup) { left.html += right.html }

    struct StringInterpolation: StringInterpolationProtocol {
        typealias StringLiteralType = StaticString

        fileprivate var html = ""

        init(literalCapacity: Int, interpolationCount: Int) { self.html.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: StaticString) { self.html += literal.description }

        /// Untrusted text: in an element, or in an attribute between quotes.
        mutating func appendInterpolation(_ text: some StringProtocol) {
            guard text.utf8.contains(where: Self.isEscaped) else {
                // Most texts are names and numbers.
                self.html.append(contentsOf: text)
                return
            }
            for scalar in text.unicodeScalars {
                switch scalar {
                case "&": self.html += "&amp;"
                case "<": self.html += "&lt;"
                case ">": self.html += "&gt;"
                case "\"": self.html += "&quot;"
                case "'": self.html += "&#39;"
                // No document may have it.
                case "\0": self.html += "\u{FFFD}"
                default: self.html.unicodeScalars.append(scalar)
                }
            }
        }

        private static func isEscaped(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""),
                UInt8(ascii: "'"), 0:
                true
            default: false
            }
        }

        mutating func appendInterpolation(_ number: some BinaryInteger) { self.html += "\(number)" }

        mutating func appendInterpolation(_ markup: Markup) { self.html += markup.html }

        mutating func appendInterpolation(_ markup: Markup?) { self.html += markup?.html ?? "" }

        mutating func appendInterpolation(_ parts: [Markup]) { for part in parts { self.html += part.html } }

        /// A URL of the console, in an attribute between quotes.
        mutating func appendInterpolation(_ url: PageURL) { self.appendInterpolation(url.text) }

        /// The markup if the condition holds, such as an attribute without a value.
        mutating func appendInterpolation(_ markup: Markup, if condition: Bool) {
            if condition { self.html += markup.html }
        }
    }
}
