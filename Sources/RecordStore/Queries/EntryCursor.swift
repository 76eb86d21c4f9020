import StorageContract

/// The pieces in which the entries of one index and zone are read, within ranges, in either direction.
struct EntryPieces {
    /// What all pieces have in common.
    private var scan: EntryScan
    /// Ranges that are not yet read; the next one is at the end.
    private var ranges: [EntryRange]

    private static let sizeMax = 512

    /// Ascending, disjoint ranges.
    ///
    /// `after` is the position at which an earlier page ended. `size` is the number of entries to read at
    /// first, and `hasRecords` says whether they come with their records.
    init(
        _ index: IndexUse,
        in zone: ZoneKey,
        ranges: [EntryRange],
        isDescending: Bool = false,
        after: EntryPosition? = nil,
        size: Int,
        hasRecords: Bool = true
    ) {
        self.scan = EntryScan(.all, of: index.number, in: zone, limit: max(1, min(size, Self.sizeMax)))
        self.scan.isDescending = isDescending
        self.scan.after = after
        self.scan.hasRecords = hasRecords
        let left = ranges.filter { range in
            guard let after else { return true }
            return isDescending
                ? !after.value.precedes(range.lower)
                : range.upper.map { after.value.precedes($0) } ?? true
        }
        self.ranges = isDescending ? left : left.reversed()
    }

    /// The scan to read next; `nil` at the end.
    var next: EntryScan? {
        guard let range = self.ranges.last else { return nil }
        var scan = self.scan
        scan.range = range
        // Nothing of a later range was read.
        if let after = scan.after, !range.contains(after.value) { scan.after = nil }
        return scan
    }

    /// The next piece came.
    mutating func take(_ piece: [EntryPosition]) {
        if piece.count < self.scan.limit { self.ranges.removeLast() }
        if let last = piece.last { self.scan.after = last }
        self.scan.limit = min(self.scan.limit * 2, Self.sizeMax)
    }
}

/// Reads entries with their records, one after the other.
final class EntryCursor {
    private var pieces: EntryPieces
    private let store: QueryStore
    private var piece: [EntryPosition] = []
    private var records: (any RecordList)?
    private var position = 0

    init(_ pieces: EntryPieces, _ store: QueryStore) {
        self.pieces = pieces
        self.store = store
    }

    /// Returns the next entry without taking it.
    func peek() throws(QueryFailure) -> CursorStep<EntryPosition> {
        while self.position == self.piece.count {
            guard let scan = self.pieces.next else { return .end }
            if self.store.meter.isUsedUp { return .paused(nil) }
            let listed = try self.store.entries(scan)
            self.piece = listed.elements
            self.records =
                listed.records ?? self.store.records(numbered: self.piece.map(\.record), in: scan.zone)
            self.position = 0
            self.pieces.take(self.piece)
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

    /// The record of the entry that was taken last.
    var record: ListedRecord? {
        let offset = self.position - 1
        return self.records.map {
            ListedRecord(number: self.piece[offset].record, offset: offset, records: $0)
        }
    }
}
