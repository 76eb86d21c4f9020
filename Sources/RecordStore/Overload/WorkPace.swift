/// How long a unit of work takes, from what was executed last.
///
/// Measured over about a fifth of a second of executing: what is older counts half as much each time that is full.
struct WorkPace: Sendable {
    private static let memoryNanoseconds = 200_000_000.0
    /// No more of one piece counts: the first one of a process, which may take long, would be remembered for too long.
    private static let pieceNanosecondsMax = 50_000_000.0
    /// A piece counts for so many times what it would have taken before: a checkpoint says nothing about the next.
    private static let outlier = 4.0

    private var work = 0.0
    private var nanoseconds = 0.0

    /// `nil`: nothing was executed yet.
    var nanosecondsPerUnit: Double? { self.work > 0 ? self.nanoseconds / self.work : nil }

    /// So much work, at least 1, was executed in this time.
    mutating func add(work: Int, nanoseconds: Int64) {
        var time = min(max(Double(nanoseconds), 1), Self.pieceNanosecondsMax)
        if let known = self.nanosecondsPerUnit { time = min(time, Self.outlier * known * Double(work)) }
        self.work += Double(work)
        self.nanoseconds += time
        if self.nanoseconds > Self.memoryNanoseconds {
            self.work /= 2
            self.nanoseconds /= 2
        }
    }
}
