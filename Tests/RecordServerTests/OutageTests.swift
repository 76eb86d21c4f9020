import Testing

@testable import RecordServer

/// Lines of the log whose rate would follow that of requests.
struct OutageTests {
    @Test func `an outage is a line at its begin, one in ten seconds, and one at its end`() {
        var outage = Outage()
        #expect(outage.ended(now: 0) == nil)
        var lines: [Int64: Outage.Line] = [:]
        for now: Int64 in stride(from: 1_000, to: 36_000, by: 25) {
            lines[now] = outage.goesOn(refusing: 1, now: now)
        }
        #expect(lines.keys.sorted() == [1_000, 11_000, 21_000, 31_000])
        #expect(lines[1_000] == Outage.Line(milliseconds: 0, refused: 1))
        #expect(lines[11_000] == Outage.Line(milliseconds: 10_000, refused: 401))
        #expect(outage.ended(now: 36_000) == Outage.Line(milliseconds: 35_000, refused: 1_400))
        #expect(outage.ended(now: 36_001) == nil)
    }

    @Test func `outages that follow each other closely are not told each`() {
        var outage = Outage()
        var lines = 0
        for now: Int64 in stride(from: 0, to: 60_000, by: 10) {
            if outage.goesOn(refusing: 1, now: now) != nil { lines += 1 }
            if outage.ended(now: now + 5) != nil { lines += 1 }
        }
        #expect(lines <= 12, "a begin and an end in ten seconds")
    }

    @Test func `what an outage refused that no line has told of is in the next line`() {
        var outage = Outage()
        #expect(outage.goesOn(refusing: 1, now: 0) != nil)
        #expect(outage.ended(now: 1_000) == Outage.Line(milliseconds: 1_000, refused: 1))
        #expect(outage.goesOn(refusing: 5, now: 2_000) == nil)
        #expect(outage.ended(now: 3_000) == nil)
        #expect(outage.goesOn(refusing: 1, now: 20_000) == Outage.Line(milliseconds: 0, refused: 6))
    }
}
