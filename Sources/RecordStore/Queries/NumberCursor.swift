/// The result of a cursor's step.
enum CursorStep<Found> {
    case found(Found)
    case end
    /// The page has read enough. The next one continues here without a gap, or behind the last
    /// result if this is `nil`.
    case paused(Found?)
}

/// Reads the record numbers of a `NumberSource` in one zone, ascending.
///
/// Lists are merged (`any`) or intersected (`all`). An intersection skips: the list that is ahead
/// tells the others where to continue.
///
/// Every list may read one piece, even if the page has used up its reads. So a list that pauses has
/// passed its first piece. A page that continues there makes progress even if its budget is less
/// than one piece per list.
final class NumberCursor {
    private enum Kind {
        case list(NumberList)
        case any([NumberCursor])
        case all([NumberCursor])
    }

    /// The caller's use for the numbers.
    enum Use {
        case numbers
        /// The caller reads the record of each next, and has room for this number, or for all if
        /// `nil`.
        case records(Int?)
    }

    private let kind: Kind

    init(_ source: NumberSource, in zone: ZoneKey, for use: Use, _ store: QueryStore) {
        switch source {
        case .value(let index, let value):
            self.kind = .list(NumberList(index.number, value, zone, for: use, store))
        // Of the numbers of several lists, few may be left.
        case .any(let parts):
            self.kind = .any(parts.map { NumberCursor($0, in: zone, for: .numbers, store) })
        case .all(let parts):
            self.kind = .all(parts.map { NumberCursor($0, in: zone, for: .numbers, store) })
        }
    }

    /// Returns the first number that is not less than this one.
    func next(from number: Int64) throws(QueryFailure) -> CursorStep<Int64> {
        switch self.kind {
        case .list(let list): return try list.next(from: number)
        case .any(let parts): return try Self.least(of: parts, from: number)
        case .all(let parts): return try Self.meeting(of: parts, from: number)
        }
    }

    private static func least(
        of parts: [NumberCursor],
        from number: Int64
    ) throws(QueryFailure) -> CursorStep<Int64> {
        var least: Int64?
        var pausedAt: Int64?
        for part in parts {
            switch try part.next(from: number) {
            case .found(let found): least = min(least ?? found, found)
            case .end: continue
            case .paused(let position): pausedAt = min(pausedAt ?? .max, position ?? number)
            }
        }
        // A paused list may have more numbers from there on, but none below.
        if let pausedAt, least.map({ pausedAt < $0 }) ?? true { return .paused(pausedAt) }
        return least.map { .found($0) } ?? .end
    }

    private static func meeting(
        of parts: [NumberCursor],
        from number: Int64
    ) throws(QueryFailure) -> CursorStep<Int64> {
        var candidate = number
        var agreeing = 0
        var turn = 0
        let pair = Self.pair(of: parts)
        while agreeing < parts.count {
            if let next = pair.map({ NumberList.leastMeeting($0, $1, from: candidate) }), next > candidate {
                candidate = next
                agreeing = 0
            }
            switch try parts[turn].next(from: candidate) {
            case .found(let found):
                agreeing = found == candidate ? agreeing + 1 : 1
                candidate = found
            case .end: return .end
            case .paused(let position): return .paused(position ?? candidate)
            }
            turn = turn + 1 == parts.count ? 0 : turn + 1
        }
        return .found(candidate)
    }

    /// The first two parts, if both are lists.
    private static func pair(of parts: [NumberCursor]) -> (NumberList, NumberList)? {
        guard parts.count > 1, case .list(let first) = parts[0].kind, case .list(let second) = parts[1].kind
        else { return nil }
        return (first, second)
    }
}

/// The records that have one value, read in pieces.
private final class NumberList {
    private let index: Int64
    private let value: [UInt8]
    private let zone: ZoneKey
    private let store: QueryStore
    private var piece: [Int64] = []
    private var position = 0
    private var isLast = false
    private var hasRead = false
    private var pieceSize: Int
    private let leadsToRecords: Bool

    /// The entries of such a piece cost as much as the search for its first.
    private static let pieceSizeMin = 64
    private static let pieceSizeMax = 1_024
    private static let growth = 4

    init(
        _ index: Int64,
        _ value: [UInt8],
        _ zone: ZoneKey,
        for use: NumberCursor.Use,
        _ store: QueryStore
    ) {
        self.index = index
        self.value = value
        self.zone = zone
        self.store = store
        switch use {
        case .numbers: (self.pieceSize, self.leadsToRecords) = (Self.pieceSizeMin, false)
        case .records(let room):
            self.pieceSize = room.map { max(1, min($0, Self.pieceSizeMin)) } ?? Self.pieceSizeMin
            self.leadsToRecords = true
        }
    }

    func next(from number: Int64) throws(QueryFailure) -> CursorStep<Int64> {
        while true {
            if let found = self.found(from: number) { return .found(found) }
            if self.isLast { return .end }
            if self.hasRead {
                if self.store.meter.isUsedUp { return .paused(number) }
                // If the next piece has the number anyway, pieces grow; if the list skips, they do
                // not. A few hundred excess entries cost less than another search.
                let isNear = self.isWithinNextPiece(number)
                self.pieceSize =
                    isNear ? min(self.pieceSize * Self.growth, Self.pieceSizeMax) : Self.pieceSizeMin
            }
            self.hasRead = true
            self.piece = try self.store.records(
                having: self.value,
                in: self.index,
                of: self.zone,
                from: number,
                limit: self.pieceSize,
                leadsToRecords: self.leadsToRecords
            )
            self.position = 0
            self.isLast = self.piece.count < self.pieceSize
        }
    }

    /// The first number of the piece that is not less than this one; those before it are passed.
    private func found(from number: Int64) -> Int64? {
        // Thousands of steps: a local variable is read without a check of access.
        let piece = self.piece
        var position = self.position
        while position < piece.count, piece[position] < number { position += 1 }
        self.position = position
        return position < piece.count ? piece[position] : nil
    }

    /// Passes the numbers that only one of two lists has, as far as both have read.
    ///
    /// A loop over two arrays, where a step of the cursor for each number would take most of an
    /// intersection's time.
    ///
    /// - Returns: The least number, not below `number`, that both lists may have.
    static func leastMeeting(_ first: NumberList, _ second: NumberList, from number: Int64) -> Int64 {
        let (left, right) = (first.piece, second.piece)
        var (i, j) = (first.position, second.position)
        while i < left.count, j < right.count {
            if left[i] < right[j] || left[i] < number {
                i += 1
            } else if right[j] < left[i] {
                j += 1
            } else {
                break
            }
        }
        (first.position, second.position) = (i, j)
        if i < left.count, left[i] > number { return left[i] }
        return j < right.count ? max(number, right[j]) : number
    }

    /// Whether another piece as wide as the last one reaches the number.
    private func isWithinNextPiece(_ number: Int64) -> Bool {
        guard let first = self.piece.first, let last = self.piece.last else { return false }
        return number <= last || number &- last <= last &- first &+ 1
    }
}
