/// A date of the server's clock, as the value of a `TIMESTAMP`: whole milliseconds since 1970, told
/// in seconds since 2001.
///
/// Server and clients convert by this alone. A date that a client has read must equal itself when
/// it comes back in a query, and two conversions differ in their last bit for every second
/// millisecond.
package enum ServerDate {
    /// Milliseconds from 1970-01-01T00:00:00Z to 2001-01-01T00:00:00Z.
    private static let referenceMilliseconds: Double = 978_307_200_000
    /// From here on, 8.8 million years away, doubles have no milliseconds.
    private static let secondsMax: Double = 0x1p48

    /// Seconds since 2001 of milliseconds since 1970.
    package static func seconds(milliseconds: Int64) -> Double {
        (Double(milliseconds) - self.referenceMilliseconds) / 1_000
    }

    /// The date in whole milliseconds that is nearest to seconds since 2001.
    package static func nearest(toSeconds seconds: Double) -> Double {
        guard abs(seconds) < self.secondsMax else { return seconds }
        return (seconds * 1_000).rounded() / 1_000
    }
}
