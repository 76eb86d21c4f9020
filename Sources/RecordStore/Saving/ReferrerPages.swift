import StorageContract

/// Reads which records refer to some records, a page at a time.
struct ReferrerPages {
    private var targets: ArraySlice<String>
    /// The last referrer that was read of the first target; empty if none was.
    private var behind = ""

    /// Maximum number of referrers that one lookup finds, of all its targets together.
    static let pageMax = 256
    /// Maximum number of targets of one lookup.
    static let targetsMax = 64

    /// Begins with the first target, or behind a referrer of it.
    init(of targets: ArraySlice<String>, behind: String = "") {
        self.targets = targets
        self.behind = behind
    }

    /// Reads as `WriteTransaction.referrers` does.
    typealias Read =
        (_ targets: [String], _ behind: String, _ limit: Int) throws(StorageFailure) -> [[Referrer]]

    /// A part of the referrers of one target.
    struct Part {
        let referrers: [Referrer]
        /// Whether these are the last of the target.
        let isLast: Bool
    }

    /// The next page: for some targets, in their order, what refers to them.
    ///
    /// `nil` if there is no target left. Only the last part may not be the last of its target.
    mutating func next(_ read: Read) throws(StorageFailure) -> [Part]? {
        guard !self.targets.isEmpty else { return nil }
        let lists = try read(Array(self.targets.prefix(Self.targetsMax)), self.behind, Self.pageMax)
        let isCut = lists.reduce(0) { $0 + $1.count } >= Self.pageMax
        let whole = isCut ? lists.count - 1 : lists.count
        self.targets.removeFirst(whole)
        // The next target does not repeat the names read for the one before.
        self.behind = isCut ? lists.last?.last?.name ?? "" : ""
        return lists.enumerated().map { Part(referrers: $1, isLast: $0 < whole) }
    }
}
