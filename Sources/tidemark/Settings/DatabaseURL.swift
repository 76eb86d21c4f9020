import Foundation

/// The URL of a database, which may have a password in it.
struct DatabaseURL: Hashable, Sendable {
    let text: String

    /// The URL for logs and listings, without the password.
    ///
    /// A malformed one has none either: an `@`, a `/` or a `:` that belongs to the password hides more
    /// than that.
    var shown: String {
        let text = self.hasKeywords ? self.text : Self.hidingUserPassword(in: self.text)
        return text.replacing(#/([^=&?\s]+)(\s*=\s*)('(?:\\.|[^'\\])*'?|[^&\s]*)/#) { match in
            let keyword = String(match.output.1)
            // libpq takes an escaped name as well.
            let name = keyword.removingPercentEncoding ?? keyword
            return name.lowercased().hasSuffix("password")
                ? "\(keyword)\(match.output.2)***" : String(match.output.0)
        }
    }

    /// Whether it is a list of `keyword=value`, and no URL.
    private var hasKeywords: Bool { self.text.first { $0 == "=" || $0 == ":" || $0 == "@" } == "=" }

    /// Hides the text between the first colon after the scheme and the last `@`; without an `@`, the text
    /// in the position of the port.
    private static func hidingUserPassword(in text: String) -> String {
        var start = text.startIndex
        let word = text.prefix { $0 != ":" }
        if ["postgresql", "postgres"].contains(word.lowercased()), word.endIndex < text.endIndex {
            start = text.index(after: word.endIndex)
            while start < text.endIndex, text[start] == "/" { start = text.index(after: start) }
        }
        if let end = text.lastIndex(of: "@"), start <= end {
            guard let colon = text[start..<end].firstIndex(of: ":") else { return text }
            return "\(text[..<colon]):***\(text[end...])"
        }
        // With a user and a password but no host, the password is in the position of the port.
        let end = text[start...].firstIndex { $0 == "/" || $0 == "?" } ?? text.endIndex
        guard let colon = text[start..<end].lastIndex(of: ":"),
            !text[colon..<end].dropFirst().allSatisfy(\.isWholeNumber), text[start..<end].last != "]"
        else { return text }
        return "\(text[..<colon]):***\(text[end...])"
    }
}
