/// Untrusted text that is printed to a terminal or a log.
///
/// A terminal obeys control characters, including U+0080 to U+009F, and a direction control
/// reverses the text after it. So a name or a message could clear a screen, forge a line or hide
/// the end of one. Such characters are written as the escapes of JSON, which are valid in a line of
/// JSON too.
///
/// - Source: ECMA-48, *Control Functions*; Unicode Standard Annex #9, *Bidirectional Algorithm*.
package enum PrintedText {
    /// One line without such characters.
    package static func line(_ text: String) -> String { self.escaped(text, isLine: true) }

    /// Lines without such characters; line breaks and tabs are kept.
    package static func lines(_ text: String) -> String { self.escaped(text, isLine: false) }

    /// The escape for a character; `nil` if it is printed unchanged.
    package static func escape(_ scalar: Unicode.Scalar) -> String? {
        switch scalar.value {
        case 0x09: return "\\t"
        case 0x0A: return "\\n"
        case 0x0D: return "\\r"
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
            let digits = String(scalar.value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
        default: return nil
        }
    }

    /// Whether such a character may begin with this byte of UTF-8.
    package static func mayBegin(with byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == 0xC2 || byte == 0xD8 || byte == 0xE2
    }

    private static func escaped(_ text: String, isLine: Bool) -> String {
        guard text.utf8.contains(where: self.mayBegin) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            if let escape = self.escape(scalar), isLine || (scalar != "\n" && scalar != "\t") {
                escaped += escape
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
