/// Decides the log lines of an outage or another repeating fault: one at its begin, one at its end,
/// and at most one in ten seconds between.
///
/// If it begins within ten seconds of the last line, its line is delayed until these are over.
package struct Outage: Sendable {
    package static let pauseMilliseconds: Int64 = 10_000

    package struct Line: Hashable, Sendable {
        /// Since the begin.
        package var milliseconds: Int64
        /// Requests refused since then, and in shorter outages that were not logged.
        package var refused: Int
    }

    private var since: Int64?
    private var refused = 0
    private var isReported = false
    private var lastLine: Int64?

    package init() {}

    /// Notes that the outage continues; returns the line to log, if one is due.
    ///
    /// `now` is milliseconds of a monotonic clock.
    package mutating func goesOn(refusing requests: Int, now: Int64) -> Line? {
        let since = self.since ?? now
        self.since = since
        self.refused += requests
        if let lastLine, now - lastLine < Self.pauseMilliseconds { return nil }
        (self.isReported, self.lastLine) = (true, now)
        return Line(milliseconds: now - since, refused: self.refused)
    }

    /// Notes the end; returns the line to log, if one is due.
    package mutating func ended(now: Int64) -> Line? {
        guard let since else { return nil }
        self.since = nil
        guard self.isReported else { return nil }
        defer { (self.refused, self.isReported) = (0, false) }
        self.lastLine = now
        return Line(milliseconds: now - since, refused: self.refused)
    }

    package var isOpen: Bool { self.since != nil }
}
