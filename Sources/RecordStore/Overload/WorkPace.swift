/// The time per unit of work, measured over the last pieces of work.
///
/// The window is about 200 ms of execution: each time it is full, the weight of older pieces is
/// halved.
struct WorkPace: Sendable {
    private static let memoryNanoseconds = 200_000_000.0
    /// Bound on the time that one piece may count.
    ///
    /// The first piece of a process may take long, and would be remembered for too long.
    private static let pieceNanosecondsMax = 50_000_000.0
    /// Bound on the time that one piece may count, as a multiple of what it would have taken
    /// before.
    ///
    /// A checkpoint says nothing about the next piece.
    private static let outlier = 4.0

    private var work = 0.0
    private var nanoseconds = 0.0

    /// `nil` until something was executed.
    var nanosecondsPerUnit: Double? { self.work > 0 ? self.nanoseconds / self.work : nil }

    /// Adds a piece of work, at least 1, and the time that it took.
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
