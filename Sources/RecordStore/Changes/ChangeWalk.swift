/// What became of the records of a zone behind a position, in order: changes and deletions, read in pieces.
struct ChangeWalk {
    enum Turn {
        case change(FeedChange)
        case deletion(FeedDeletion)
        case cover(CoverChange)
    }

    /// Pieces of one of the two, in order.
    private struct Source<Element> {
        /// Where the next piece starts.
        private(set) var after: Int64
        private(set) var isAtEnd = false
        private var elements: [Element] = []
        private var place = 0

        init(after position: Int64, isAtEnd: Bool = false) {
            self.after = position
            self.isAtEnd = isAtEnd
        }

        var wantsPiece: Bool { self.place == self.elements.count && !self.isAtEnd }

        var first: Element? { self.place < self.elements.count ? self.elements[self.place] : nil }

        /// A piece came; an empty one is the end.
        mutating func take(_ piece: [Element], position: KeyPath<Element, Int64>) {
            self.elements = piece
            self.place = 0
            if let last = piece.last { self.after = last[keyPath: position] } else { self.isAtEnd = true }
        }

        mutating func next() -> Element? {
            guard let first else { return nil }
            self.place += 1
            return first
        }
    }

    private let snapshot: any Snapshot
    private let zone: ZoneKey
    private var changes: Source<FeedChange>
    private var deletions: Source<FeedDeletion>
    private var covers: Source<CoverChange>

    private static let piece = 128

    /// `hasCovers`: also what came under shares and left them.
    init(_ snapshot: any Snapshot, zone: ZoneKey, after position: Int64, hasCovers: Bool) {
        self.snapshot = snapshot
        self.zone = zone
        self.changes = Source(after: position)
        self.deletions = Source(after: position)
        self.covers = Source(after: position, isAtEnd: !hasCovers)
    }

    /// `nil`: there is no more.
    mutating func next() throws(StorageFailure) -> Turn? {
        if self.changes.wantsPiece { try self.readChanges() }
        if self.deletions.wantsPiece { try self.readDeletions() }
        if self.covers.wantsPiece { try self.readCovers() }
        let change = self.changes.first?.position ?? .max
        let deletion = self.deletions.first?.position ?? .max
        let cover = self.covers.first?.position ?? .max
        if change < min(deletion, cover) { return self.changes.next().map { .change($0) } }
        if deletion < cover { return self.deletions.next().map { .deletion($0) } }
        return self.covers.next().map { .cover($0) }
    }

    private mutating func readChanges() throws(StorageFailure) {
        let piece = try self.snapshot.changes(after: self.changes.after, in: self.zone, limit: Self.piece)
        self.changes.take(piece, position: \.position)
    }

    private mutating func readDeletions() throws(StorageFailure) {
        let piece = try self.snapshot.deletions(after: self.deletions.after, in: self.zone, limit: Self.piece)
        self.deletions.take(piece, position: \.position)
    }

    private mutating func readCovers() throws(StorageFailure) {
        let piece = try self.snapshot.membershipChanges(
            after: self.covers.after,
            in: self.zone,
            limit: Self.piece
        )
        self.covers.take(piece, position: \.position)
    }
}
