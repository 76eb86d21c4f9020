import Foundation
import TestSupport
import Testing

@testable import RecordJSON

/// Dates in ISO 8601, compared with Foundation's.
@Suite
struct ISODateTests {
    @Test(
        arguments: [
            ("2001-01-01T00:00:00Z", 0), ("2001-01-01T00:00Z", 0), ("2000-12-31T23:59:59.5Z", -0.5),
            ("2001-01-01T01:30:00+01:30", 0), ("2000-12-31T20:00:00-0400", 0),
            ("2026-03-07T00:00:00.123456Z", 794_534_400.123_456), ("2024-02-29T00:00:00Z", 730_857_600),
            ("1969-12-31T23:59:59Z", -978_307_201), ("0001-01-01T00:00:00Z", -63_113_904_000),
            ("9999-12-31T23:59:59Z", 252_423_993_599),
        ] as [(String, Double)]
    )
    func `a date is the nearest double to its seconds`(text: String, seconds: Double) {
        #expect(ISODate.seconds(text) == seconds)
    }

    @Test(
        arguments: [
            "", "2026-11-28", "2026-11-28T10:00:00", "2026-11-28 10:00:00Z", "2026-11-28T10:00:00Z ",
            "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z",
            "2026-04-31T00:00:00Z", "2026-11-28T24:00:00Z", "2026-11-28T10:60:00Z", "2026-11-28T10:00:60Z",
            "2026-11-28T10:00:00.Z", "2026-11-28T10:00:00+24:00", "0000-12-31T00:00:00Z", "yesterday",
            "2026-11-28T10:00:00Zx", "-2026-11-28T10:00:00Z", "1100-02-29T00:00:00Z",
        ]
    )
    func `another text is no date`(text: String) {
        #expect(ISODate.seconds(text) == nil)
    }

    @Test
    func `random dates are those of Foundation, and come back as they were`() throws {
        var generator = SeededGenerator(seed: RoundTripTests.seed)
        for round in 0..<2_000 {
            // From 1600 on, where both use the same calendar.
            let whole = Int64.random(in: -12_000_000_000...250_000_000_000, using: &generator)
            let date = Date(timeIntervalSinceReferenceDate: Double(whole)).ISO8601Format()
            #expect(ISODate.text(seconds: Double(whole)) == date, "round \(round)")
            #expect(ISODate.seconds(date) == Double(whole), "round \(round)")
            let fine = Double(whole % 1_000_000_000) + Double.random(in: 0..<1, using: &generator)
            let text = try #require(ISODate.text(seconds: fine))
            #expect(ISODate.seconds(text)?.bitPattern == fine.bitPattern, "round \(round): \(text)")
        }
        #expect(ISODate.text(milliseconds: -1) == "1969-12-31T23:59:59.999Z")
        #expect(ISODate.text(milliseconds: 1_764_115_200_000) == "2025-11-26T00:00:00Z")
        #expect(ISODate.text(seconds: 1e300) == nil && ISODate.text(seconds: -0.0) == nil)
    }
}
