/// The time that pieces of work take, in two parts: one that is the same for each piece, and one per
/// unit of work.
///
/// A commit is such a piece. Its round trips and its sync take as long for a thousand saves as for
/// one. Both parts are fitted by least squares to the last 16 to 32 pieces, or to those of the last
/// 100 to 200 ms if these are more: each time the window is full, the weight of older pieces is
/// halved. Pieces of one size do not tell the parts apart. So sizes that hardly differ are read as
/// the time of a unit, and of `pieceWork` / 5 units more for the piece.
struct WorkPace: Sendable {
    private static let memoryNanoseconds = 200_000_000.0
    private static let memoryPieces = 32.0
    /// Bound on the time that the first piece of a process may count.
    ///
    /// It may take long, and would be remembered for too long.
    private static let firstNanosecondsMax = 50_000_000.0
    /// Bound on the time that one piece may count, as a multiple of its expected time.
    ///
    /// A checkpoint says nothing about the next piece.
    private static let outlier = 4.0
    /// Sizes tell the parts apart by the ratio of their variance to this part of the square of their
    /// mean.
    private static let doubt = 0.1

    /// The assumed cost of the fixed part, in units, while the measurements cannot separate the
    /// parts.
    private let fixedWork: Double
    private var pieces = 0.0
    private var work = 0.0
    private var nanoseconds = 0.0
    private var squares = 0.0
    private var products = 0.0
    /// The time of a unit, and of each piece besides; `nil` until something was executed.
    private(set) var parts: (unit: Double, fixed: Double)?

    /// - Parameter pieceWork: The work that a piece has while more waits; 1 if it is always one
    ///   request, which has no part of its own then.
    init(pieceWork: Int) { self.fixedWork = Double(pieceWork / 5) }

    /// The time per unit in pieces of this much work; `nil` until something was executed.
    func nanosecondsPerUnit(inPiecesOf work: Int) -> Double? {
        self.parts.map { $0.unit + $0.fixed / Double(work) }
    }

    /// Adds a piece of work, at least 1, and the time that it took.
    mutating func add(work: Int, nanoseconds: Int64) {
        let work = Double(work)
        let most = self.parts.map { Self.outlier * ($0.fixed + $0.unit * work) }
        let time = min(max(Double(nanoseconds), 1), most ?? Self.firstNanosecondsMax)
        self.pieces += 1
        self.work += work
        self.nanoseconds += time
        self.squares += work * work
        self.products += work * time
        self.fit()
        guard self.nanoseconds > Self.memoryNanoseconds, self.pieces > Self.memoryPieces else { return }
        self.pieces /= 2
        self.work /= 2
        self.nanoseconds /= 2
        self.squares /= 2
        self.products /= 2
    }

    private mutating func fit() {
        let (work, time) = (self.work / self.pieces, self.nanoseconds / self.pieces)
        let expected = time / (work + self.fixedWork)
        let doubt = Self.doubt * (work + self.fixedWork) * (work + self.fixedWork)
        let variance = max(0, self.squares / self.pieces - work * work)
        let covariance = self.products / self.pieces - work * time
        let slope = (covariance + doubt * expected) / (variance + doubt)
        // Neither part is less than nothing; a unit is never free.
        let unit = min(max(slope, expected / 100), time / work)
        self.parts = (unit, time - unit * work)
    }
}
