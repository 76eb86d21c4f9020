import Foundation

/// The format of dates.
package enum DateForm: String, CaseIterable, Sendable {
    /// As CloudKit Web Services does.
    case milliseconds
    /// In ISO 8601, in UTC.
    case iso
}

/// A date in ISO 8601, with its zone and any fraction of a second.
///
/// All years, from 0001 to 9999, use the Gregorian calendar.
enum ISODate {
    private static let secondsOfReference: Int64 = 978_307_200
    private static let secondsOfDay: Int64 = 86_400
    private static let permitted: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// The expected format, for errors.
    static let expected = "a time with its zone, such as 2026-11-28T10:00:00Z, or milliseconds since 1970"

    // MARK: Reading

    /// The seconds since 2001, as the nearest double; `nil` if the text is not such a date.
    static func seconds(_ text: String) -> Double? {
        let pattern =
            /([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]{1,30})?)?(Z|[+-][0-9]{2}:?[0-9]{2})/
        guard let match = text.wholeMatch(of: pattern),
            let days = self.days(year: Int64(match.1), month: Int64(match.2), day: Int64(match.3)),
            let hour = Int64(match.4), hour < 24, let minute = Int64(match.5), minute < 60,
            let second = Int64(match.6 ?? "0"), second < 60, let offset = self.offset(match.8)
        else { return nil }
        let whole = days * self.secondsOfDay + hour * 3_600 + minute * 60 + second - offset
        guard self.permitted.contains(whole), let fraction = Decimal(string: "0\(match.7 ?? "")", locale: nil)
        else { return nil }
        return Double("\(Decimal(whole - self.secondsOfReference) + fraction)")
    }

    /// The days since 1970; `nil` if the calendar has no such day.
    private static func days(year: Int64?, month: Int64?, day: Int64?) -> Int64? {
        guard let year, let month, let day, (1...12).contains(month) else { return nil }
        let days = self.days(toMonth: month, of: year) + day - 1
        let next = self.days(toMonth: month == 12 ? 1 : month + 1, of: month == 12 ? year + 1 : year)
        return day >= 1 && days < next ? days : nil
    }

    /// The days from 1970 to the first of a month.
    ///
    /// - Source: Howard Hinnant, *chrono-Compatible Low-Level Date Algorithms*: a year begins in March.
    private static func days(toMonth month: Int64, of year: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let month = (month + 9) % 12
        return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 - 719_468
    }

    private static func offset(_ zone: Substring) -> Int64? {
        guard zone != "Z" else { return 0 }
        let digits = zone.dropFirst().filter { $0 != ":" }
        guard let hours = Int64(digits.prefix(2)), let minutes = Int64(digits.suffix(2)), hours < 24,
            minutes < 60
        else { return nil }
        return (zone.hasPrefix("-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
    }

    // MARK: Writing

    /// The text of seconds since 2001; `nil` if it does not round-trip to the same double.
    static func text(seconds: Double) -> String? {
        guard let decimal = Decimal(string: "\(seconds)", locale: nil),
            let floor = Int64(exactly: seconds.rounded(.down))
        else { return nil }
        let whole = floor.addingReportingOverflow(self.secondsOfReference)
        guard !whole.overflow, self.permitted.contains(whole.partialValue) else { return nil }
        let fraction = "\(decimal - Decimal(floor))".dropFirst()
        let text = self.text(unixSeconds: whole.partialValue, fraction: fraction)
        return self.seconds(text)?.bitPattern == seconds.bitPattern ? text : nil
    }

    /// The text of milliseconds since 1970.
    static func text(milliseconds: Int64) -> String? {
        let remainder = (milliseconds % 1_000 + 1_000) % 1_000
        let seconds = (milliseconds - remainder) / 1_000
        guard self.permitted.contains(seconds) else { return nil }
        let digits = String(remainder + 1_000).dropFirst()
        return self.text(unixSeconds: seconds, fraction: remainder == 0 ? "" : "." + digits)
    }

    private static func text(unixSeconds: Int64, fraction: some StringProtocol) -> String {
        let second = (unixSeconds % self.secondsOfDay + self.secondsOfDay) % self.secondsOfDay
        let days = (unixSeconds - second) / self.secondsOfDay
        var year = 1970 + days / 366 - (days < 0 ? 1 : 0)
        while self.days(toMonth: 1, of: year + 1) <= days { year += 1 }
        while self.days(toMonth: 1, of: year) > days { year -= 1 }
        let month = (1...12).last { self.days(toMonth: $0, of: year) <= days } ?? 1
        let day = days - self.days(toMonth: month, of: year) + 1
        func two(_ number: Int64) -> Substring { "\(number + 100)".suffix(2) }
        return "\("\(year + 10_000)".suffix(4))-\(two(month))-\(two(day))T"
            + "\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))\(fraction)Z"
    }
}
