import Administration
import ArgumentParser
import Foundation

/// A time in milliseconds since 1970, in ISO 8601 as text.
struct Moment: Hashable, Comparable, Sendable {
    let milliseconds: Int64

    init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    static var now: Moment { Moment(milliseconds: SystemTime.milliseconds()) }

    static func < (left: Moment, right: Moment) -> Bool { left.milliseconds < right.milliseconds }

    /// Such as `2026-11-26T08:30:00.123Z`.
    var text: String {
        let seconds = Date(timeIntervalSince1970: TimeInterval(self.milliseconds / 1_000))
        let fraction = String(self.milliseconds % 1_000 + 1_000).dropFirst()
        return "\(seconds.ISO8601Format().dropLast()).\(fraction)Z"
    }

    /// As the name of a file.
    var fileName: String { self.text.filter { $0 != "-" && $0 != ":" } }

    /// Reads a time with its zone: `Z`, or an offset such as `+01:00`.
    init?(text: String) {
        let pattern = /([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(\.[0-9]{1,9})?(.+)/
        guard let match = text.wholeMatch(of: pattern), let offset = Self.offsetSeconds(match.5),
            let date = try? Date("\(match.1)T\(match.2)\(match.3 ?? ":00")Z", strategy: .iso8601)
        else { return nil }
        let digits = String((match.4 ?? ".").dropFirst()) + "000"
        let seconds = Int64(date.timeIntervalSince1970) - offset
        self.init(milliseconds: seconds * 1_000 + (Int64(digits.prefix(3)) ?? 0))
    }

    private static func offsetSeconds(_ zone: Substring) -> Int64? {
        if zone == "Z" { return 0 }
        guard let match = zone.wholeMatch(of: /([+-])([0-9]{2}):?([0-9]{2})/), let hours = Int64(match.2),
            let minutes = Int64(match.3), hours < 24, minutes < 60
        else { return nil }
        return (match.1 == "-" ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }
}

extension Moment: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let moment = Moment(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a time")
        }
        self = moment
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.text)
    }
}

extension Moment: ExpressibleByArgument {
    init?(argument: String) { self.init(text: argument) }
}

/// A span of time on a command line: a whole number and `s`, `m`, `h` or `d`.
struct Span: Hashable, Sendable, ExpressibleByArgument {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]

    let seconds: Int64

    init(seconds: Int64) {
        self.seconds = seconds
    }

    init?(argument: String) {
        guard let unit = argument.last.flatMap({ Self.units[$0] }), let count = Int64(argument.dropLast()),
            (1...1_000_000).contains(count)
        else { return nil }
        self.init(seconds: count * unit)
    }
}
