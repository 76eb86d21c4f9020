import Foundation
import Logging
import RecordModel

/// An event of the log, as text or as JSON.
///
///     2026-11-23T17:58:54.371Z info sign-in refused peer=127.0.0.1:49858 reason="expired"
///     {"time":"2026-11-23T17:58:54.371Z","level":"info","message":"listening",
///      "metadata":{"port":7430},"logger":"tidemark"}                          (one line)
///
/// The text is logfmt after the event. Empty values are left out.
///
/// - Source: RFC 3339 for the time; Brandur Leach, *logfmt*, for the quotes; RFC 8259 for JSON.
struct LogLine {
    let time: Date
    let level: Logger.Level
    let logger: String
    let event: String
    let metadata: Logger.Metadata

    private static let timeStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    var text: String {
        var line = "\(self.time.formatted(Self.timeStyle)) \(self.level) \(Self.printable(self.event))"
        for (key, value) in self.pairs {
            let text = value.text
            line += " \(key)=\(Self.needsQuotes(text) ? QuotedText.of(text) : text)"
        }
        return line + "\n"
    }

    var json: String {
        let metadata = self.pairs.map { "\(QuotedText.of($0)):\($1.json)" }.joined(separator: ",")
        return #"{"time":"\#(self.time.formatted(Self.timeStyle))","level":"\#(self.level)","#
            + #""message":\#(QuotedText.of(self.event)),"metadata":{\#(metadata)},"#
            + #""logger":\#(QuotedText.of(self.logger))}"# + "\n"
    }

    private var pairs: [(key: String, value: Logger.MetadataValue)] {
        self.metadata.filter { !$0.value.text.isEmpty }.sorted { $0.key < $1.key }
            .map { ($0.key, $0.value) }
    }

    private static func needsQuotes(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0 == " " || $0 == "=" || QuotedText.escape($0) != nil }
    }

    /// Our own events are phrases, but those of a library may contain line breaks.
    private static func printable(_ event: String) -> String {
        String(QuotedText.of(event).dropFirst().dropLast())
    }
}

/// Text in double quotes, as in JSON and logfmt.
enum QuotedText {
    static func of(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if let escape = self.escape(scalar) {
                quoted += escape
            } else {
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// `nil` if the character needs no escape.
    ///
    /// Control characters always do. A peer's text must not end a line of the log, move a terminal's
    /// cursor or turn a line around.
    static func escape(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\"": return "\\\""
        case "\\": return "\\\\"
        default: return PrintedText.escape(scalar)
        }
    }
}

extension Logger.MetadataValue {
    fileprivate var text: String {
        switch self {
        case .string(let text): text
        case .stringConvertible(let value): value.description
        case .array, .dictionary: self.json
        }
    }

    /// Numbers and Booleans become those of JSON if the call gave them as such
    /// (`.stringConvertible`).
    fileprivate var json: String {
        switch self {
        case .string(let text): return QuotedText.of(text)
        case .stringConvertible(let value):
            switch value {
            case let number as any BinaryInteger: return "\(number)"
            case let number as Double where number.isFinite: return "\(number)"
            case let flag as Bool: return "\(flag)"
            default: return QuotedText.of(value.description)
            }
        case .array(let values): return "[" + values.map(\.json).joined(separator: ",") + "]"
        case .dictionary(let values):
            let pairs = values.sorted { $0.key < $1.key }.map { "\(QuotedText.of($0.key)):\($0.value.json)" }
            return "{" + pairs.joined(separator: ",") + "}"
        }
    }
}
