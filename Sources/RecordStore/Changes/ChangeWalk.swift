import StorageContract

/// Changes and deletions of the records of a zone behind a position, in order, read in pieces.
struct ChangeWalk {
    enum Turn {
        case change(FeedChange)
        case deletion(FeedDeletion)
        case membership(MembershipChange)
    }

    /// Pieces of one of the three, in order.
    private struct Source<Element> {
        /// The position behind which the next piece starts.
        private(set) var after: Int64
        private(set) var isAtEnd = false
        private var elements: [Element] = []
        private var offset = 0
        private var records: (any RecordList)?

        init(after position: Int64, isAtEnd: Bool = false) {
            self.after = position
            self.isAtEnd = isAtEnd
        }

        var wantsPiece: Bool { self.offset == self.elements.count && !self.isAtEnd }

        var first: Element? { self.offset < self.elements.count ? self.elements[self.offset] : nil }

        /// A piece came; an empty one is the end.
        mutating func take(
            _ piece: [Element],
            _ records: (any RecordList)? = nil,
            position: KeyPath<Element, Int64>
        ) {
            self.elements = piece
            self.records = records
            self.offset = 0
            if let last = piece.last { self.after = last[keyPath: position] } else { self.isAtEnd = true }
        }

        mutating func next() -> Element? {
            guard let first else { return nil }
            self.offset += 1
            return first
        }

        /// Visits the record of the element that was taken last.
        func visit(
            _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
        ) throws(FeedFailure) -> Bool? {
            try self.records?.visit(at: self.offset - 1, visit)
        }
    }

    private let snapshot: any Snapshot
    private let zone: ZoneKey
    private var changes: Source<FeedChange>
    private var deletions: Source<FeedDeletion>
    private var memberships: Source<MembershipChange>

    private let piece: Int

    private static let pieceMax = 256

    /// The number of changes to read at a time for a page: one more, to tell whether there are
    /// more.
    static func piece(ofPage limit: Int) -> Int { min(limit, self.pieceMax - 1) + 1 }

    /// `hasMemberships` says whether records that came under shares and left them are included.
    init(
        _ snapshot: any Snapshot,
        zone: ZoneKey,
        after position: Int64,
        hasMemberships: Bool,
        piece: Int = 128
    ) {
        self.piece = piece
        self.snapshot = snapshot
        self.zone = zone
        self.changes = Source(after: position)
        self.deletions = Source(after: position)
        self.memberships = Source(after: position, isAtEnd: !hasMemberships)
    }

    /// The next turn; `nil` if there is no more.
    mutating func next() throws(StorageFailure) -> Turn? {
        if self.changes.wantsPiece { try self.readChanges() }
        if self.deletions.wantsPiece { try self.readDeletions() }
        if self.memberships.wantsPiece { try self.readMemberships() }
        let change = self.changes.first?.position ?? .max
        let deletion = self.deletions.first?.position ?? .max
        let membership = self.memberships.first?.position ?? .max
        if change < min(deletion, membership) { return self.changes.next().map { .change($0) } }
        if deletion < membership { return self.deletions.next().map { .deletion($0) } }
        return self.memberships.next().map { .membership($0) }
    }

    /// Visits the record of the change that was told last; `nil` if it is gone.
    func visitChanged(
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool? {
        try self.changes.visit(visit)
    }

    /// Visits the record that came under a share or left it, as was told last; `nil` if it is gone.
    func visitMember(
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool? {
        try self.memberships.visit(visit)
    }

    /// Whether the record of the change that was told last is there, and has not changed again.
    func isLastOfRecord(_ change: FeedChange) throws(StorageFailure) -> Bool {
        do throws(FeedFailure) {
            return try self.visitChanged { $0.position == change.position } ?? false
        } catch {
            switch error {
            case .storage(let failure): throw failure
            case .refused: throw .unexpected(code: 0)
            }
        }
    }

    private mutating func readChanges() throws(StorageFailure) {
        let piece = try self.snapshot.changes(after: self.changes.after, in: self.zone, limit: self.piece)
        self.changes.take(piece.elements, piece.records, position: \.position)
    }

    private mutating func readDeletions() throws(StorageFailure) {
        let piece = try self.snapshot.deletions(after: self.deletions.after, in: self.zone, limit: self.piece)
        self.deletions.take(piece, position: \.position)
    }

    private mutating func readMemberships() throws(StorageFailure) {
        let piece = try self.snapshot.membershipChanges(
            after: self.memberships.after,
            in: self.zone,
            limit: self.piece
        )
        let records = self.snapshot.records(numbered: piece.map(\.record), in: self.zone)
        self.memberships.take(piece, records, position: \.position)
    }
}
