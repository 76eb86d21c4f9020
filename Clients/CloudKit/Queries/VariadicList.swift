import Foundation

/// The arguments of a C function, as many as a format names.
///
/// Swift can't read such a list. So C writes the arguments as text, and the text is parsed. It is
/// exact, because doubles are written in hexadecimal.
struct VariadicList {
    private let list: CVaListPointer

    init(_ list: CVaListPointer) {
        self.list = list
    }

    /// Returns the arguments for the conversions of a predicate's format.
    ///
    /// Objects must still exist; a null pointer becomes `NSNull`.
    func objects(format: String) -> [Any] {
        let conversions = Self.conversions(format)
        let written = Self.write(conversions.map(\.written).joined(separator: " "), self.list)
        return zip(conversions, written.split(separator: " ")).map { $0.object($1) }
    }

    private enum Conversion {
        case object, integer, long, double

        var written: String {
            switch self {
            case .object: "%p"
            case .integer: "%d"
            case .long: "%ld"
            case .double: "%a"
            }
        }

        func object(_ text: Substring) -> Any {
            switch self {
            case .integer, .long: return Int64(text) ?? 0
            case .double: return Double(text) ?? .nan
            case .object:
                let digits = text.hasPrefix("0x") ? text.dropFirst(2) : "0"
                // SAFETY: the format says that an object is there; the maker of the list keeps it
                // until the call.
                let pointer = UInt(digits, radix: 16).flatMap { UnsafeRawPointer(bitPattern: $0) }
                // SAFETY: as above.
                return pointer.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() } ?? NSNull()
            }
        }
    }

    /// The conversions outside quoted strings.
    private static func conversions(_ format: String) -> [Conversion] {
        var conversions: [Conversion] = []
        var quote: Character?
        var rest = format[...]
        while let character = rest.popFirst() {
            switch character {
            case "\\": _ = rest.popFirst()
            case "'", "\"":
                if quote == nil { quote = character } else if quote == character { quote = nil }
            case "%" where quote == nil:
                if rest.first == "@" || rest.first == "K" {
                    conversions.append(.object)
                } else {
                    conversions.append(Self.conversion(rest.prefix { $0.isLetter }))
                }
            default: break
            }
        }
        return conversions
    }

    private static func conversion(_ letters: Substring) -> Conversion {
        switch letters.last {
        case "f", "g", "e": .double
        default: letters.contains { "lqz".contains($0) } ? .long : .integer
        }
    }

    private static func write(_ format: String, _ list: CVaListPointer) -> String {
        // No conversion writes more than 24 characters.
        var text = [CChar](repeating: 0, count: 32 * (format.utf8.count + 1))
        vsnprintf(&text, text.count, format, list)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
