import Foundation

/// A date in the format of CloudKit Web Services: milliseconds since 1970.
///
/// The server stores the nearest double to the seconds since 2001. The milliseconds are computed
/// with decimal digits, so they round-trip to the same double. Dates that need more than 38 digits,
/// too near to 2001 or too far away, use the object `{"secondsSince2001": number}`.
enum JSONDate {
    private static let referenceMilliseconds = Decimal(978_307_200_000)
    static let secondsName = "secondsSince2001"

    static func write(seconds: Double, to output: inout JSONOutput) {
        if output.dates == .iso, let text = ISODate.text(seconds: seconds) { return output.string(text) }
        if let text = self.milliseconds(seconds: seconds) { return output.literal(text) }
        output.object { $0.member(self.secondsName, literal: "\(seconds)") }
    }

    /// The milliseconds as a decimal number; `nil` if they do not round-trip to the same double.
    static func milliseconds(seconds: Double) -> String? {
        guard let decimal = Decimal(string: "\(seconds)", locale: nil) else { return nil }
        let milliseconds =
            Decimal(sign: .plus, exponent: 3, significand: decimal) + self.referenceMilliseconds
        let text = "\(milliseconds)"
        guard let back = self.seconds(milliseconds: text), back.bitPattern == seconds.bitPattern else {
            return nil
        }
        return text
    }

    /// The seconds since 2001 of a JSON number.
    static func seconds(milliseconds text: String) -> Double? {
        guard let decimal = Decimal(string: text, locale: nil), decimal.isFinite else { return nil }
        let seconds = Decimal(sign: .plus, exponent: -3, significand: decimal - self.referenceMilliseconds)
        return Double("\(seconds)")
    }
}
