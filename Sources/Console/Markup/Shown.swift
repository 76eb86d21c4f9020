import Foundation

/// Values as people read them.
enum Shown {
    /// Bytes of a value in a cell; the rest is cut.
    static let cellBytesMax = 256

    /// Untrusted text, isolated from the direction of the text around it.
    ///
    /// Characters that are not drawn, or that turn others around, are shown by their numbers.
    static func text(_ text: some StringProtocol) -> Markup { "<bdi>\(Self.visible(text))</bdi>" }

    /// The beginning of a text, with the size of the whole if it is cut.
    static func cut(_ text: String, to bytesMax: Int = Self.cellBytesMax) -> Markup {
        let bytes = text.utf8.count
        guard bytes > bytesMax else { return self.text(text) }
        let start = Self.beginning(of: text, bytes: bytesMax)
        return "\(self.text(start))<span class=\"cut\">… \(self.bytes(Int64(bytes)))</span>"
    }

    /// As many whole characters as fit.
    static func beginning(of text: String, bytes: Int) -> Substring {
        guard text.utf8.count > bytes else { return text[...] }
        var end = text.utf8.index(text.startIndex, offsetBy: bytes)
        // Not within a scalar.
        while end > text.startIndex, text.utf8[end] & 0xC0 == 0x80 { end = text.utf8.index(before: end) }
        return text[..<end]
    }

    private static func visible(_ text: some StringProtocol) -> Markup {
        var parts: Markup = ""
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            guard self.isHidden(scalar) else {
                plain.append(scalar)
                continue
            }
            parts += "\(String(plain))<span class=\"odd\">U+\(Self.number(of: scalar))</span>"
            plain.removeAll()
        }
        return "\(parts)\(String(plain))"
    }

    /// Whether a character is not drawn, or turns others around.
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\n", "\t", "\r": false
        // They join emoji and letters of some scripts, and are at home in text.
        case "\u{200D}", "\u{200C}": false
        default:
            [.control, .format, .lineSeparator, .paragraphSeparator, .privateUse].contains(
                scalar.properties.generalCategory
            )
        }
    }

    private static func number(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// A number with its digits in groups of three.
    static func number(_ value: Int64) -> String {
        // Most of the thousands of figures of a page of plots are small.
        guard value.magnitude >= 1_000 else { return String(value) }
        let digits = Array(String(value.magnitude))
        var grouped = value < 0 ? "-" : ""
        for (offset, digit) in digits.enumerated() {
            if offset > 0, (digits.count - offset).isMultiple(of: 3) { grouped += "," }
            grouped.append(digit)
        }
        return grouped
    }

    static func number(_ value: Int) -> String { self.number(Int64(value)) }

    /// A number with `places` digits after the point; fast, as a page of plots needs thousands of them.
    static func decimal(_ value: Double, places: Int) -> String {
        let power = (0..<places).reduce(1.0) { product, _ in product * 10 }
        guard let scaled = Int64(exactly: (value.magnitude * power).rounded()) else {
            return String(format: "%.\(places)f", value)
        }
        let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int64(power))
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return "\(sign)\(whole)" }
        let digits = String(rest)
        return "\(sign)\(whole).\(String(repeating: "0", count: places - digits.utf8.count))\(digits)"
    }

    /// A size, rounded to a unit.
    static func bytes(_ bytes: Int64) -> String {
        var value = Double(bytes)
        for unit in ["B", "KiB", "MiB", "GiB"] {
            if value < 1_024 {
                return unit == "B"
                    ? "\(bytes) B" : "\(self.decimal(value, places: value < 10 ? 1 : 0)) \(unit)"
            }
            value /= 1_024
        }
        return "\(self.decimal(value, places: 1)) TiB"
    }

    /// "1 record", "2 records".
    static func count(_ count: Int64, _ noun: String) -> String {
        "\(self.number(count)) \(noun)\(count == 1 ? "" : "s")"
    }

    static func count(_ count: Int, _ noun: String) -> String { self.count(Int64(count), noun) }

    /// A moment in UTC; the script adds the local time.
    static func time(milliseconds: Int64) -> Markup {
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        let machine = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let people = date.formatted(
            Date.ISO8601FormatStyle().year().month().day().dateTimeSeparator(.space).time(
                includingFractionalSeconds: false
            )
        )
        return "<time datetime=\"\(machine)\">\(people)</time>"
    }
}
