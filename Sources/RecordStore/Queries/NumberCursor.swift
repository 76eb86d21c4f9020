import StorageContract

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

    private let kind: Kind

    init(_ source: NumberSource, in zone: ZoneKey, _ store: QueryStore) {
        switch source {
        case .value(let index, let value):
            let scan = NumberList.scan(value, of: index, in: zone)
            self.kind = .list(NumberList(scan, store))
        case .any(let parts): self.kind = .any(parts.map { NumberCursor($0, in: zone, store) })
        case .all(let parts): self.kind = .all(parts.map { NumberCursor($0, in: zone, store) })
        }
    }

    /// Returns the first number that is not less than this one.
    ///
    /// If it may not read, it pauses where a list would have to.
    func next(from number: Int64, mayRead: Bool = true) throws(QueryFailure) -> CursorStep<Int64> {
        switch self.kind {
        case .list(let list): return try list.next(from: number, mayRead: mayRead)
        case .any(let parts): return try Self.least(of: parts, from: number, mayRead)
        case .all(let parts): return try Self.meeting(of: parts, from: number, mayRead)
        }
    }

    private static func least(
        of parts: [NumberCursor],
        from number: Int64,
        _ mayRead: Bool
    ) throws(QueryFailure) -> CursorStep<Int64> {
        var least: Int64?
        var pausedAt: Int64?
        for part in parts {
            switch try part.next(from: number, mayRead: mayRead) {
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
        from number: Int64,
        _ mayRead: Bool
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
            switch try parts[turn].next(from: candidate, mayRead: mayRead) {
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

/// The candidates of a source of numbers, ascending, each with its record.
///
/// The records of one list come with its pieces. Of the numbers of several lists few may be left, so the
/// records are those of the candidates that are known without another read.
final class NumberedCandidates {
    private enum Source {
        case list(NumberList)
        case several(NumberCursor)
    }

    private let source: Source
    private let zone: ZoneKey
    private let store: QueryStore
    private let sizeMax: Int
    private var numbers: [Int64] = []
    private var position = 0
    private var records: (any RecordList)?

    /// `room` is the number of records that the caller has room for; `nil` if it reads all.
    init(_ source: NumberSource, in zone: ZoneKey, room: Int?, _ store: QueryStore) {
        self.zone = zone
        self.store = store
        self.sizeMax = NumberList.size(room: room)
        if case .value(let index, let value) = source {
            let scan = NumberList.scan(value, of: index, in: zone, size: self.sizeMax, hasRecords: true)
            self.source = .list(NumberList(scan, store))
        } else {
            self.source = .several(NumberCursor(source, in: zone, store))
        }
    }

    /// Returns the first candidate that is not less than this number.
    func next(from number: Int64) throws(QueryFailure) -> CursorStep<Int64> {
        switch self.source {
        case .list(let list): return try list.next(from: number, mayRead: true)
        case .several(let cursor):
            self.position += 1
            if self.position >= self.numbers.count {
                let step = try cursor.next(from: number)
                guard case .found(let first) = step else { return step }
                try self.gather(from: first, cursor)
            }
            return .found(self.numbers[self.position])
        }
    }

    private func gather(from first: Int64, _ cursor: NumberCursor) throws(QueryFailure) {
        self.numbers = [first]
        var last = first
        while self.numbers.count < self.sizeMax, last < .max,
            case .found(let next) = try cursor.next(from: last + 1, mayRead: false)
        {
            self.numbers.append(next)
            last = next
        }
        self.position = 0
        self.records = self.store.records(numbered: self.numbers, in: self.zone)
    }

    /// The record of the candidate that was found last.
    var record: ListedRecord? {
        switch self.source {
        case .list(let list): list.record
        case .several:
            self.records.map {
                ListedRecord(number: self.numbers[self.position], offset: self.position, records: $0)
            }
        }
    }
}

/// The records that have one value, read in pieces.
final class NumberList {
    private var scan: NumberScan
    private let store: QueryStore
    private var piece: [Int64] = []
    private var position = 0
    private var isLast = false
    private var hasRead = false
    private var records: (any RecordList)?

    /// The entries of such a piece cost as much as the search for its first.
    private static let sizeMin = 64
    private static let sizeMax = 1_024
    private static let growth = 4

    /// The size of the first piece for a caller that has room for `room` records; `nil` if for all.
    static func size(room: Int?) -> Int { room.map { max(1, min($0, Self.sizeMin)) } ?? Self.sizeMin }

    /// The first scan, from a number on.
    static func scan(
        _ value: [UInt8],
        of index: IndexUse,
        in zone: ZoneKey,
        from start: Int64 = 0,
        size: Int = NumberList.sizeMin,
        hasRecords: Bool = false
    ) -> NumberScan {
        var scan = NumberScan(value, of: index.number, in: zone, from: start, limit: size)
        scan.hasRecords = hasRecords
        return scan
    }

    init(_ scan: NumberScan, _ store: QueryStore) {
        self.scan = scan
        self.store = store
    }

    func next(from number: Int64, mayRead: Bool) throws(QueryFailure) -> CursorStep<Int64> {
        while true {
            if let found = self.found(from: number) { return .found(found) }
            if self.isLast { return .end }
            guard mayRead else { return .paused(number) }
            if self.hasRead {
                if self.store.meter.isUsedUp { return .paused(number) }
                // If the next piece has the number anyway, pieces grow; if the list skips, they do
                // not. A few hundred excess entries cost less than another search.
                let isNear = self.isWithinNextPiece(number)
                self.scan.limit =
                    isNear ? min(self.scan.limit * Self.growth, Self.sizeMax) : Self.sizeMin
            }
            self.hasRead = true
            self.scan.start = number
            let listed = try self.store.numbers(self.scan)
            (self.piece, self.records) = (listed.elements, listed.records)
            self.position = 0
            self.isLast = self.piece.count < self.scan.limit
        }
    }

    /// The record of the number that was found last, if records are read.
    var record: ListedRecord? {
        self.records.map {
            ListedRecord(number: self.piece[self.position], offset: self.position, records: $0)
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
