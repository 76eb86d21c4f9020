import Testing

@testable import SQLiteEngine

/// When the log is copied beside the writer.
struct CheckpointPaceTests {
    private var pace = CheckpointPace(nowMilliseconds: 0)

    @Test mutating func `the log of an earlier process is copied after the first idle second`() {
        #expect(!self.pace.isDue(afterIdleSecond: false, nowMilliseconds: 500))
        #expect(self.pace.isDue(afterIdleSecond: true, nowMilliseconds: 1_000))
        #expect(!self.pace.isDue(afterIdleSecond: true, nowMilliseconds: 2_000), "nothing came since")
        #expect(!self.pace.isDue(afterIdleSecond: true, nowMilliseconds: 60_000), "nothing came since")
    }

    @Test mutating func `a short log waits for ten seconds, a long one for a second without a write`() {
        #expect(self.pace.isDue(afterIdleSecond: true, nowMilliseconds: 1_000))
        self.pace.wrote(pages: 3)
        #expect(!self.pace.isDue(afterIdleSecond: true, nowMilliseconds: 2_000))
        #expect(self.pace.isDue(afterIdleSecond: true, nowMilliseconds: 11_000))
        self.pace.wrote(pages: CheckpointPace.longLogPages)
        #expect(!self.pace.isDue(afterIdleSecond: false, nowMilliseconds: 12_000))
        #expect(self.pace.isDue(afterIdleSecond: true, nowMilliseconds: 12_500))
    }

    @Test mutating func `a log to which a little is added every second is copied all the same`() {
        #expect(self.pace.isDue(afterIdleSecond: true, nowMilliseconds: 1_000))
        var copies = 0
        for second in 2...61 {
            self.pace.wrote(pages: 4)
            if self.pace.isDue(afterIdleSecond: false, nowMilliseconds: Int64(second) * 1_000) { copies += 1 }
        }
        #expect(copies == 6)
    }

    @Test mutating func `under a load of writes nobody asks, until it ends`() {
        for second in 1...60 {
            self.pace.wrote(pages: CheckpointPace.manyPages)
            #expect(!self.pace.isDue(afterIdleSecond: false, nowMilliseconds: Int64(second) * 1_000))
        }
        #expect(!self.pace.isShort)
        #expect(self.pace.isDue(afterIdleSecond: true, nowMilliseconds: 62_000))
        #expect(self.pace.isShort)
    }

    @Test mutating func `a clock that is set back holds up no copy`() {
        #expect(self.pace.isDue(afterIdleSecond: true, nowMilliseconds: 1_000_000))
        self.pace.wrote(pages: 1)
        #expect(self.pace.isDue(afterIdleSecond: true, nowMilliseconds: 5_000))
    }
}
