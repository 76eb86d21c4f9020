package import RecordModel
package import StorageContract

/// One page of a zone's feed.
package struct FeedRead: Hashable, Sendable {
    package var zone: ZoneID
    /// The token of the page before; `nil` if a snapshot is to be read from its beginning.
    ///
    /// May be any bytes: other bytes than a token of this feed are refused with
    /// `changeTokenExpired`.
    package var token: [UInt8]?
    /// The order of a snapshot that begins; afterwards the token has it.
    package var order: FetchChanges.SnapshotOrder
    /// The fields to return: `nil` for all, empty for none.
    package var desiredKeys: [String]?
    /// Items of the page, 1…`Bounds.feedPageMax`.
    package var limit: Int
    /// The installation that asks, to note its progress; empty if it has no name.
    package var installation: [UInt8] = []

    package init(
        zone: ZoneID,
        token: [UInt8]? = nil,
        order: FetchChanges.SnapshotOrder = .creation,
        desiredKeys: [String]? = nil,
        limit: Int = Bounds.feedPageMax
    ) {
        self.zone = zone
        self.token = token
        self.order = order
        self.desiredKeys = desiredKeys
        self.limit = limit
    }
}

/// One page of a database's feed.
package struct DatabaseFeedRead: Hashable, Sendable {
    /// As in `FeedRead`; `nil` if all zones that are there are to be listed.
    package var token: [UInt8]?
    /// Items of the page, 1…`Bounds.feedPageMax`.
    package var limit: Int

    package init(token: [UInt8]? = nil, limit: Int = Bounds.feedPageMax) {
        self.token = token
        self.limit = limit
    }
}

/// Takes the items of a page of a feed: records, and what else there is.
package protocol FeedSink: RecordSink {
    func add(_ deleted: DeletedRecord)
    func add(changed zone: ZoneID)
    func add(deleted zone: ZoneID)
}

/// The end of a page; its items are in the sink, and there may be none before the end of the feed.
package struct FeedPageEnd: Hashable, Sendable {
    /// The token with which the next page starts, at most `ChangeToken.bytesMax`.
    package var token: [UInt8]
    /// Something is left already.
    package var moreComing: Bool
    /// The totals of a snapshot, counted when it began.
    ///
    /// `nil` if this is no snapshot, or if the requester may not see all that was counted.
    package var totals: SnapshotTotals?
    /// In a zone's feed: the token that the client has stored with the zone; empty if there is
    /// none.
    package var clientToken: [UInt8] = []
    /// In a zone's feed: the client's progress, as the page shows it.
    package var progress: FeedProgress?
}

/// The maximum cost of one page.
package struct FeedBudget: Hashable, Sendable {
    /// Records, deletions and entries of the order of changes that a page reads before it ends.
    package var readsMax = 20_000
    /// Bytes of the bodies of records that a page reads before it ends.
    package var bytesReadMax = Bounds.pageReadBytesMax
    /// Encoded fields of all records of a page.
    package var responseBytesMax = Bounds.defaults.responseBytesMax

    package static let defaults = FeedBudget()

    package init() {}
}
