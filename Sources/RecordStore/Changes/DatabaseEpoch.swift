/// What tells one life of a database from every other: its creation begins one, and so does each restore.
///
/// Two lives count the same positions and mean different changes. So neither the token of a feed nor a change tag may
/// ever pass from one to another: an epoch is no count of restores, which two restores of one backup would share, and
/// neither of the two numbers is derived from anything that a restore takes back.
package enum DatabaseEpoch {
    /// Room for the time until the year 2248.
    private static let randomBits: Int64 = 20

    /// An epoch that no database has had: the time, followed by 20 random bits.
    ///
    /// Two lives share one only when they began in the same millisecond, by clocks right or wrong, and drew the same of a
    /// million numbers.
    package static func fresh(
        nowMilliseconds now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Int64 {
        self.bounded(now) << self.randomBits
            | Int64.random(in: 0..<(1 << self.randomBits), using: &generator)
    }

    package static func fresh(nowMilliseconds now: Int64) -> Int64 {
        var generator = SystemRandomNumberGenerator()
        return self.fresh(nowMilliseconds: now, using: &generator)
    }

    /// The position from which a database counts after a restore, unless it is further already: the time in microseconds.
    ///
    /// Above every position of a life that the restore ended, which would have had to commit a million changes a second since
    /// it began: so no change tag of it, such as a client still has, is that of a later change.
    package static func firstPosition(nowMilliseconds now: Int64) -> Int64 {
        self.bounded(now) * 1_000
    }

    private static func bounded(_ milliseconds: Int64) -> Int64 {
        min(max(milliseconds, 0), 1 << (62 - self.randomBits))
    }
}
