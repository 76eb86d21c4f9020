/// Reads the entries of one index in one zone, within ranges, in either direction.
final class EntryCursor {
    private let index: Int64
    private let zone: ZoneKey
    private let store: QueryStore
    private let isDescending: Bool
    private let leadsToRecords: Bool
    /// Ranges that are not yet read; the next one is at the end.
    private var ranges: [EntryRange]
    private var after: EntryPosition?
    private var piece: [EntryPosition] = []
    private var position = 0
    private var pieceSize: Int

    private static let pieceSizeMax = 512

    /// Reads ascending, disjoint ranges.
    ///
    /// `after` is the position at which another cursor over them ended. `pieceSize` is the number
    /// of entries to read at first. `leadsToRecords` says whether the record of each is read next.
    init(
        _ index: Int64,
        in zone: ZoneKey,
        ranges: [EntryRange],
        isDescending: Bool = false,
        after: EntryPosition? = nil,
        pieceSize: Int,
        leadsToRecords: Bool,
        _ store: QueryStore
    ) {
        self.index = index
        self.zone = zone
        self.store = store
        self.isDescending = isDescending
        self.leadsToRecords = leadsToRecords
        self.pieceSize = max(1, min(pieceSize, Self.pieceSizeMax))
        self.after = after
        let left = ranges.filter { range in
            guard let after else { return true }
            return isDescending
                ? !after.value.precedes(range.lower)
                : range.upper.map { after.value.precedes($0) } ?? true
        }
        self.ranges = isDescending ? left : left.reversed()
    }

    /// Returns the next entry without taking it.
    func peek() throws(QueryFailure) -> CursorStep<EntryPosition> {
        while self.position == self.piece.count {
            guard let range = self.ranges.last else { return .end }
            if self.store.meter.isUsedUp { return .paused(nil) }
            self.piece = try self.store.entries(
                EntryScan(
                    range: range,
                    isDescending: self.isDescending,
                    after: self.behind(range),
                    leadsToRecords: self.leadsToRecords
                ),
                of: self.index,
                in: self.zone,
                limit: self.pieceSize
            )
            self.position = 0
            if self.piece.count < self.pieceSize { self.ranges.removeLast() }
            if let last = self.piece.last { self.after = last }
            self.pieceSize = min(self.pieceSize * 2, Self.pieceSizeMax)
        }
        return .found(self.piece[self.position])
    }

    /// Whether no other entry has the value of the peeked one.
    ///
    /// `false` also if that is not known yet.
    ///
    /// In both directions, entries of one value are adjacent, so those before it were read.
    var isLastOfValue: Bool {
        let next = self.position + 1
        return next < self.piece.count && self.piece[next].value != self.piece[self.position].value
    }

    func next() throws(QueryFailure) -> CursorStep<EntryPosition> {
        let step = try self.peek()
        if case .found = step { self.position += 1 }
        return step
    }

    /// The position to continue behind, if it lies within the range.
    ///
    /// Nothing of a later range was read.
    private func behind(_ range: EntryRange) -> EntryPosition? {
        guard let after = self.after, range.contains(after.value) else { return nil }
        return after
    }
}
