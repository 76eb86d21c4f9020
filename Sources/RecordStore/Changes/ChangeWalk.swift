/// What became of the records of a zone behind a position, in order: changes and deletions, read in pieces.
struct ChangeWalk {
    enum Turn {
        case change(FeedChange)
        case deletion(FeedDeletion)
        case cover(CoverChange)
    }

    /// Pieces of one of the two, in order.
    private struct Source<Element> {
        var elements: ArraySlice<Element> = []
        /// Where the next piece starts.
        var after: Int64
        var isAtEnd = false
    }

    private let reader: any FeedReader
    private let zone: ZoneKey
    private var changes: Source<FeedChange>
    private var deletions: Source<FeedDeletion>
    private var covers: Source<CoverChange>

    private static let piece = 128

    /// `hasCovers`: also what came under shares and left them.
    init(_ reader: any FeedReader, zone: ZoneKey, after position: Int64, hasCovers: Bool) {
        self.reader = reader
        self.zone = zone
        self.changes = Source(after: position)
        self.deletions = Source(after: position)
        self.covers = Source(after: position, isAtEnd: !hasCovers)
    }

    /// `nil`: there is no more.
    mutating func next() throws(StorageFailure) -> Turn? {
        if self.changes.elements.isEmpty, !self.changes.isAtEnd { try self.readChanges() }
        if self.deletions.elements.isEmpty, !self.deletions.isAtEnd { try self.readDeletions() }
        if self.covers.elements.isEmpty, !self.covers.isAtEnd { try self.readCovers() }
        let change = self.changes.elements.first?.position ?? .max
        let deletion = self.deletions.elements.first?.position ?? .max
        let cover = self.covers.elements.first?.position ?? .max
        if change < min(deletion, cover) { return self.changes.elements.popFirst().map { .change($0) } }
        if deletion < cover { return self.deletions.elements.popFirst().map { .deletion($0) } }
        return self.covers.elements.popFirst().map { .cover($0) }
    }

    private mutating func readCovers() throws(StorageFailure) {
        let piece = try self.reader.coverChanges(after: self.covers.after, in: self.zone, limit: Self.piece)
        self.covers.elements = piece[...]
        guard let last = piece.last else {
            self.covers.isAtEnd = true
            return
        }
        self.covers.after = last.position
    }

    private mutating func readChanges() throws(StorageFailure) {
        let piece = try self.reader.changes(after: self.changes.after, in: self.zone, limit: Self.piece)
        self.changes.elements = piece[...]
        guard let last = piece.last else {
            self.changes.isAtEnd = true
            return
        }
        self.changes.after = last.position
    }

    private mutating func readDeletions() throws(StorageFailure) {
        let piece = try self.reader.deletions(after: self.deletions.after, in: self.zone, limit: Self.piece)
        self.deletions.elements = piece[...]
        guard let last = piece.last else {
            self.deletions.isAtEnd = true
            return
        }
        self.deletions.after = last.position
    }
}
