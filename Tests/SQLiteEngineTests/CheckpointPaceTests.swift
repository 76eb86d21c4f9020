import Testing

@testable import SQLiteEngine

/// When the log is copied beside the writer.
final class CheckpointPaceTests {
    private var pace = CheckpointPace(nowMilliseconds: 0)

    private func isDue(afterIdleSecond isIdle: Bool, nowMilliseconds now: Int64) -> Bool {
        self.pace.isDue(afterIdleSecond: isIdle, nowMilliseconds: now)
    }

    @Test func `the log of an earlier process is copied after the first idle second`() {
        #expect(!self.isDue(afterIdleSecond: false, nowMilliseconds: 500))
        #expect(self.isDue(afterIdleSecond: true, nowMilliseconds: 1_000))
        #expect(!self.isDue(afterIdleSecond: true, nowMilliseconds: 2_000), "nothing came since")
        #expect(!self.isDue(afterIdleSecond: true, nowMilliseconds: 60_000), "nothing came since")
    }

    @Test func `a short log waits for ten seconds, a long one for a second without a write`() {
        #expect(self.isDue(afterIdleSecond: true, nowMilliseconds: 1_000))
        self.pace.wrote(pages: 3)
        #expect(!self.isDue(afterIdleSecond: true, nowMilliseconds: 2_000))
        #expect(self.isDue(afterIdleSecond: true, nowMilliseconds: 11_000))
        self.pace.wrote(pages: CheckpointPace.longLogPages)
        #expect(!self.isDue(afterIdleSecond: false, nowMilliseconds: 12_000))
        #expect(self.isDue(afterIdleSecond: true, nowMilliseconds: 12_500))
    }

    @Test func `a log to which a little is added every second is copied all the same`() {
        #expect(self.isDue(afterIdleSecond: true, nowMilliseconds: 1_000))
        var copies = 0
        for second in 2...61 {
            self.pace.wrote(pages: 4)
            if self.isDue(afterIdleSecond: false, nowMilliseconds: Int64(second) * 1_000) { copies += 1 }
        }
        #expect(copies == 6)
    }

    @Test func `under a load of writes nobody asks, until it ends`() {
        for second in 1...60 {
            self.pace.wrote(pages: CheckpointPace.manyPages)
            #expect(!self.isDue(afterIdleSecond: false, nowMilliseconds: Int64(second) * 1_000))
        }
        #expect(!self.pace.isShort)
        #expect(self.isDue(afterIdleSecond: true, nowMilliseconds: 62_000))
        #expect(self.pace.isShort)
    }

    @Test func `the log of a load is copied while a little is added to it afterwards`() {
        for second in 1...30 {
            self.pace.wrote(pages: CheckpointPace.manyPages)
            #expect(!self.isDue(afterIdleSecond: false, nowMilliseconds: Int64(second) * 1_000))
        }
        let copies = (31...60).filter { second in
            self.pace.wrote(pages: 2)
            return self.isDue(afterIdleSecond: false, nowMilliseconds: Int64(second) * 1_000)
        }
        #expect(copies == [40, 50, 60])
    }

    @Test func `a clock that is set back holds up no copy`() {
        #expect(self.isDue(afterIdleSecond: true, nowMilliseconds: 1_000_000))
        self.pace.wrote(pages: 1)
        #expect(self.isDue(afterIdleSecond: true, nowMilliseconds: 5_000))
    }
}
