import Synchronization

/// Which of the lines are written whose rate would follow that of requests: one in ten seconds.
struct LinePace: Sendable {
    static let pauseMilliseconds: Int64 = 10_000

    private var last: Int64?
    private var unwritten = 0

    /// Returns how many lines were left out since the last one; `nil` if this one is, too.
    ///
    /// `now` is milliseconds of a clock that only goes forward.
    mutating func next(now: Int64) -> Int? {
        if let last, now - last < Self.pauseMilliseconds {
            self.unwritten += 1
            return nil
        }
        self.last = now
        defer { self.unwritten = 0 }
        return self.unwritten
    }
}

/// An outage of a storage, as lines of the log: one at its begin, one at its end, and one in ten seconds
/// between.
///
/// One that begins within ten seconds of the last line is told when these are over, if it lasts.
struct Outage: Sendable {
    struct Line: Hashable, Sendable {
        /// Since the begin.
        var milliseconds: Int64
        /// Requests that were refused since then.
        var refused: Int
    }

    private var since: Int64?
    private var refused = 0
    private var isTold = false
    private var lastLine: Int64?

    /// Notes that the storage executes nothing; returns what to say, if anything.
    mutating func goesOn(refusing requests: Int, now: Int64) -> Line? {
        let since = self.since ?? now
        self.since = since
        self.refused += requests
        if let lastLine, now - lastLine < LinePace.pauseMilliseconds { return nil }
        (self.isTold, self.lastLine) = (true, now)
        return Line(milliseconds: now - since, refused: self.refused)
    }

    /// Notes the end; returns what to say, if anything.
    mutating func ended(now: Int64) -> Line? {
        guard let since else { return nil }
        defer { (self.since, self.refused, self.isTold) = (nil, 0, false) }
        guard self.isTold else { return nil }
        self.lastLine = now
        return Line(milliseconds: now - since, refused: self.refused)
    }
}

/// The paces of what an engine reports.
final class EnginePaces: Sendable {
    private struct State {
        var outage = Outage()
        var faults = LinePace()
        var housekeeping = LinePace()
    }

    private let state = Mutex(State())
    private let start = ContinuousClock.now

    private var now: Int64 { Int64((ContinuousClock.now - self.start) / .milliseconds(1)) }

    func outageGoesOn(refusing requests: Int) -> Outage.Line? {
        self.state.withLock { $0.outage.goesOn(refusing: requests, now: self.now) }
    }

    func outageEnded() -> Outage.Line? { self.state.withLock { $0.outage.ended(now: self.now) } }

    /// Lines that were left out before this one about a fault; `nil` if it is left out.
    func fault() -> Int? { self.state.withLock { $0.faults.next(now: self.now) } }

    func housekeeping() -> Int? { self.state.withLock { $0.housekeeping.next(now: self.now) } }
}
