/// What became of the records of a zone behind a position, in order: changes and deletions, read in pieces.
struct ChangeWalk {
    enum Turn {
        case change(FeedChange)
        case deletion(FeedDeletion)
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

    private static let piece = 128

    init(_ reader: any FeedReader, zone: ZoneKey, after position: Int64) {
        self.reader = reader
        self.zone = zone
        self.changes = Source(after: position)
        self.deletions = Source(after: position)
    }

    /// `nil`: there is no more.
    mutating func next() throws(StorageFailure) -> Turn? {
        if self.changes.elements.isEmpty, !self.changes.isAtEnd { try self.readChanges() }
        if self.deletions.elements.isEmpty, !self.deletions.isAtEnd { try self.readDeletions() }
        switch (self.changes.elements.first, self.deletions.elements.first) {
        case (nil, nil): return nil
        case (let change?, let deletion?) where deletion.position < change.position:
            self.deletions.elements.removeFirst()
            return .deletion(deletion)
        case (let change?, _):
            self.changes.elements.removeFirst()
            return .change(change)
        case (nil, let deletion?):
            self.deletions.elements.removeFirst()
            return .deletion(deletion)
        }
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
