/// A date of the server's clock as a `TIMESTAMP`: whole milliseconds since 1970, expressed in
/// seconds since 2001.
///
/// Server and clients must use this conversion alone. A date that a client has read must equal
/// itself in a query, and other conversions differ in the last bit for every second millisecond.
package enum ServerDate {
    /// Milliseconds from 1970-01-01T00:00:00Z to 2001-01-01T00:00:00Z.
    private static let referenceMilliseconds: Double = 978_307_200_000
    /// From here on, 8.8 million years away, doubles cannot represent milliseconds.
    private static let secondsMax: Double = 0x1p48

    /// Converts milliseconds since 1970 to seconds since 2001.
    package static func seconds(milliseconds: Int64) -> Double {
        (Double(milliseconds) - self.referenceMilliseconds) / 1_000
    }

    /// The nearest date in whole milliseconds, in seconds since 2001.
    package static func nearest(toSeconds seconds: Double) -> Double {
        guard abs(seconds) < self.secondsMax else { return seconds }
        return (seconds * 1_000).rounded() / 1_000
    }
}
