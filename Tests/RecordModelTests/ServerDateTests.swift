import Foundation
import RecordModel
import Testing

struct ServerDateTests {
    /// A minute of each of some years, and both sides of 1970 and 2001.
    private static let starts: [Int64] = [
        -30_000, 978_307_170_000, 1_400_000_000_000, 1_733_000_000_000, 1_795_391_829_000, 4_102_444_800_000,
    ]

    @Test(arguments: starts)
    func `a date is the nearest to itself for every millisecond, whatever units it went through`(start: Int64)
    {
        var wrong: [Int64] = []
        for milliseconds in start..<start + 60_000 {
            let seconds = ServerDate.seconds(milliseconds: milliseconds)
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let dates = [
                date, Date(timeIntervalSince1970: date.timeIntervalSince1970),
                Date(timeIntervalSince1970: Double(milliseconds) / 1_000),
                Date(timeIntervalSince1970: Double(milliseconds) * 0.001),
            ]
            let isNearest = dates.allSatisfy {
                ServerDate.nearest(toSeconds: $0.timeIntervalSinceReferenceDate) == seconds
            }
            if !isNearest { wrong.append(milliseconds) }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }

    @Test
    func `neighbours are other dates, and what has no milliseconds stays as it is`() {
        for milliseconds: Int64 in [-1, 0, 1, 978_307_200_001, 1_795_391_829_123] {
            let (seconds, next) = (
                ServerDate.seconds(milliseconds: milliseconds),
                ServerDate.seconds(milliseconds: milliseconds + 1)
            )
            #expect(seconds < next && ServerDate.nearest(toSeconds: seconds + 0.000_4) == seconds)
            #expect(ServerDate.nearest(toSeconds: seconds + 0.000_6) == next)
        }
        for seconds in [Double.infinity, -.infinity, .greatestFiniteMagnitude, 0x1p60, 0] {
            #expect(ServerDate.nearest(toSeconds: seconds) == seconds)
        }
        #expect(ServerDate.nearest(toSeconds: .nan).isNaN)
        for milliseconds in [Int64.min, .max] {
            #expect(ServerDate.seconds(milliseconds: milliseconds).isFinite)
        }
    }
}
