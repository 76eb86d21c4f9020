/// The number that distinguishes one life of a database from every other.
///
/// Its creation begins one life, and so does each restore. Two lives count the same positions and
/// mean different changes. So neither the token of a feed nor a change tag may ever pass from one
/// to another.
///
/// An epoch is no count of restores, because two restores of one backup would share it. Neither of
/// the two numbers is derived from anything that a restore takes back.
package enum DatabaseEpoch {
    /// Room for the time until the year 2248.
    private static let randomBits: Int64 = 20

    /// An epoch that no database has had: the time, followed by 20 random bits.
    ///
    /// Two lives share one only if they began in the same millisecond, by clocks right or wrong,
    /// and drew the same of a million numbers.
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

    /// The position from which a database counts after a restore, unless it is further already.
    ///
    /// It is the time in microseconds. So it is above every position of a life that the restore
    /// ended: that life would have had to commit a million changes a second since it began. No
    /// change tag of that life, such as a client still has, is therefore that of a later change.
    package static func firstPosition(nowMilliseconds now: Int64) -> Int64 {
        self.bounded(now) * 1_000
    }

    private static func bounded(_ milliseconds: Int64) -> Int64 {
        min(max(milliseconds, 0), 1 << (62 - self.randomBits))
    }
}
