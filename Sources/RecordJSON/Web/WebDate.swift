/// A date of CloudKit Web Services: whole milliseconds since 1970.
enum WebDate {
    /// Between 1970 and 2001.
    private static let referenceMilliseconds: Int64 = 978_307_200_000
    /// Beyond it a double does not have every whole number.
    private static let millisecondsMax: Int64 = 1 << 53

    /// The milliseconds of seconds since 2001, rounded down.
    static func milliseconds(seconds: Double) -> Int64 {
        let nearest = (seconds * 1_000).rounded()
        // Digits in between would be lost in the product: a date that came as whole milliseconds
        // leaves as the same.
        let whole = nearest / 1_000 == seconds ? nearest : (seconds * 1_000).rounded(.down)
        guard abs(whole) <= Double(self.millisecondsMax) else {
            return whole < 0 ? -self.millisecondsMax : self.millisecondsMax
        }
        return Int64(whole) + self.referenceMilliseconds
    }

    /// The seconds since 2001; `nil` if no double has these milliseconds.
    static func seconds(milliseconds: Int64) -> Double? {
        let (since, isTooFar) = milliseconds.subtractingReportingOverflow(self.referenceMilliseconds)
        guard !isTooFar, abs(since) <= self.millisecondsMax else { return nil }
        return Double(since) / 1_000
    }
}
