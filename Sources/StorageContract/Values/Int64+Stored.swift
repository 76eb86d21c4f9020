/// Counters and positions that come from rows, which a disk may have changed.
extension Int64 {
    /// No store ever wrote a larger counter, position or time, and sums of a few are numbers.
    package static let countedMax: Int64 = 1 << 60

    /// The number, if it can be counted on from.
    ///
    /// - Throws: `unexpected` if no store wrote it, so the row is damaged.
    package func counted() throws(StorageFailure) -> Int64 {
        guard (-Self.countedMax...Self.countedMax).contains(self) else { throw .unexpected(code: 0) }
        return self
    }

    /// The sum, or the nearest number that there is.
    package func adding(clamped other: Int64) -> Int64 {
        let (sum, isTooMuch) = self.addingReportingOverflow(other)
        guard isTooMuch else { return sum }
        return other < 0 ? .min : .max
    }
}
