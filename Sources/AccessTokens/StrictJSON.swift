import Foundation

/// Decides whether bytes are a JSON object that every reader understands alike.
///
/// Such an object is UTF-8 without a byte order mark, and no object in it names a member twice.
/// Foundation's decoder also takes UTF-16 and UTF-32, and picks one of two members with the same
/// name. Another reader of the same token may pick the other.
///
/// - Source: RFC 8259; RFC 7493, section 2; RFC 7515, section 4; RFC 7519, sections 4 and 7.
struct StrictJSON {
    /// More than the claims of any provider need.
    ///
    /// Bounds the stack.
    static let depthMax = 32

    private var rest: Substring.UnicodeScalarView

    static func isObject(_ bytes: Data) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        var scanner = StrictJSON(rest: text.unicodeScalars[...])
        scanner.skipBlanks()
        guard scanner.takeObject(depth: 1) else { return false }
        scanner.skipBlanks()
        return scanner.rest.isEmpty
    }

    /// Takes a value and the whitespace around it.
    private mutating func takeValue(depth: Int) -> Bool {
        self.skipBlanks()
        let isValue =
            switch self.rest.first {
            case "{": self.takeObject(depth: depth)
            case "[": self.takeArray(depth: depth)
            case "\"": self.takeString() != nil
            case "t": self.take("true")
            case "f": self.take("false")
            case "n": self.take("null")
            default: self.takeNumber()
            }
        self.skipBlanks()
        return isValue
    }

    private mutating func takeObject(depth: Int) -> Bool {
        guard depth <= Self.depthMax, self.take("{") else { return false }
        // Foundation's decoder treats canonically equivalent names as equal, and so does this set.
        var names: Set<String> = []
        self.skipBlanks()
        if self.take("}") { return true }
        repeat {
            self.skipBlanks()
            guard let name = self.takeString(), names.insert(name).inserted else { return false }
            self.skipBlanks()
            guard self.take(":"), self.takeValue(depth: depth + 1) else { return false }
        } while self.take(",")
        return self.take("}")
    }

    private mutating func takeArray(depth: Int) -> Bool {
        guard depth <= Self.depthMax, self.take("[") else { return false }
        self.skipBlanks()
        if self.take("]") { return true }
        repeat {
            guard self.takeValue(depth: depth + 1) else { return false }
        } while self.take(",")
        return self.take("]")
    }

    /// Takes a number that a `Double` can hold, not necessarily to the last digit.
    private mutating func takeNumber() -> Bool {
        let start = self.rest
        guard self.takeDigitsAndSigns() else { return false }
        return Double(String(start[..<self.rest.startIndex]))?.isFinite ?? false
    }

    private mutating func takeDigitsAndSigns() -> Bool {
        _ = self.take("-")
        guard self.take("0") || self.takeDigits() else { return false }
        if self.take(".") {
            guard self.takeDigits() else { return false }
        }
        guard self.take("e") || self.take("E") else { return true }
        _ = self.take("+") || self.take("-")
        return self.takeDigits()
    }

    /// Takes one or more digits.
    private mutating func takeDigits() -> Bool {
        let digits = self.rest.prefix { ("0"..."9").contains($0) }
        self.rest = self.rest[digits.endIndex...]
        return !digits.isEmpty
    }

    /// Takes a string, and returns it without escapes.
    private mutating func takeString() -> String? {
        guard self.take("\"") else { return nil }
        var text = String.UnicodeScalarView()
        while let scalar = self.rest.popFirst() {
            switch scalar {
            case "\"": return String(text)
            case "\\":
                guard let escaped = self.takeEscaped() else { return nil }
                text.append(escaped)
            case "\u{0}"..."\u{1F}": return nil
            default: text.append(scalar)
            }
        }
        return nil
    }

    /// Takes the character after a backslash.
    private mutating func takeEscaped() -> Unicode.Scalar? {
        guard let scalar = self.rest.popFirst() else { return nil }
        switch scalar {
        case "\"", "\\", "/": return scalar
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return self.takeCodeUnits()
        default: return nil
        }
    }

    /// Takes four hexadecimal digits, or twice four that form a surrogate pair.
    private mutating func takeCodeUnits() -> Unicode.Scalar? {
        guard let first = self.takeCodeUnit() else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard self.take("\\u"), let second = self.takeCodeUnit(), UTF16.isTrailSurrogate(second) else {
            return nil
        }
        return String(decoding: [first, second], as: UTF16.self).unicodeScalars.first
    }

    private mutating func takeCodeUnit() -> UInt16? {
        let digits = self.rest.prefix(4)
        guard digits.count == 4, digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
        self.rest = self.rest[digits.endIndex...]
        return UInt16(String(digits), radix: 16)
    }

    /// Takes this text if it comes next.
    private mutating func take(_ text: String) -> Bool {
        guard self.rest.starts(with: text.unicodeScalars) else { return false }
        self.rest = self.rest.dropFirst(text.unicodeScalars.count)
        return true
    }

    private mutating func skipBlanks() {
        self.rest = self.rest.drop { [" ", "\t", "\n", "\r"].contains($0) }
    }
}
