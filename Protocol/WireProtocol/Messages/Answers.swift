package import RecordModel

/// Frame `items`: outcomes of items, in any order.
package struct Items: Hashable, Sendable {
    package var items: [Item]

    package init(items: [Item]) {
        self.items = items
    }
}

/// The outcome of one item of a request.
package struct Item: Hashable, Sendable {
    /// The item's number in the request.
    package var index: UInt32
    package var outcome: ItemOutcome

    package init(index: UInt32, outcome: ItemOutcome) {
        self.index = index
        self.outcome = outcome
    }
}

/// Large and rare cases are indirect: a page has hundreds of the small ones.
package enum ItemOutcome: Hashable, Sendable {
    indirect case failure(Failure)
    case recordSaved(RecordSaved)
    case deleted
    case record(RecordMessage)
    case zone(Zone)
    /// Of a zone's feed.
    case recordDeleted(DeletedRecord)
    /// Of a database's feed; also if the zone was created.
    case zoneChanged(ZoneID)
    /// Of a database's feed.
    case zoneDeleted(ZoneID)
    indirect case subscription(Subscription)
    indirect case shareMetadata(ShareMetadata)
    indirect case participant(ShareParticipant)
    /// Success without a result.
    case done
    indirect case explanation(RecordExplanation)
}

/// System fields after a save.
package struct RecordSaved: Hashable, Sendable {
    package var changeTag: String
    package var system: SystemFields

    package init(changeTag: String, system: SystemFields) {
        self.changeTag = changeTag
        self.system = system
    }
}

/// An error, and advice on how to handle it.
package struct Failure: Error, Hashable, Sendable {
    /// The item at fault within the request.
    package enum Cause: Hashable, Sendable {
        case culprit
        /// It depends on the item with this number, which failed.
        case dependsOn(index: UInt32)
        /// The item with this number, in the same atomic batch, failed.
        case atomicPeer(index: UInt32)
    }

    package var code: ErrorCode
    /// For people; clients must not match it.
    package var message: String
    package var cause: Cause
    package var retry: RetryAdvice
    /// With `serverRecordChanged`: the server's complete record.
    package var serverRecord: Record?

    package init(
        code: ErrorCode,
        message: String,
        cause: Cause = .culprit,
        retry: RetryAdvice,
        serverRecord: Record? = nil
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.retry = retry
        self.serverRecord = serverRecord
    }
}

/// Frame `end`: the last of a stream.
package struct End: Hashable, Sendable {
    /// The request failed as a whole.
    package var failure: Failure?
    /// Of a query: there may be more; pass it with the next request.
    package var cursor: [UInt8]
    /// Of a count query: number of records of this page.
    package var count: UInt64
    /// Of `check_schema`: one line for each missing part.
    package var missing: [String]
    /// Of a feed, on every page, and of `fetch_token`: pass it with the next request.
    package var token: [UInt8]
    /// Of a feed: more changes are available now.
    package var moreComing: Bool
    /// Of a feed, on every page of a snapshot.
    package var totals: SnapshotTotals?
    /// Of the feed of a zone, on every page: the client's token stored with the zone; empty if
    /// there is none.
    package var clientToken: [UInt8]

    package init(
        failure: Failure? = nil,
        cursor: [UInt8] = [],
        count: UInt64 = 0,
        missing: [String] = []
    ) {
        self.failure = failure
        self.cursor = cursor
        self.count = count
        self.missing = missing
        self.token = []
        self.moreComing = false
        self.clientToken = []
    }

    /// The end of a page of a feed, or of the response to `fetch_token`.
    package init(
        token: [UInt8],
        moreComing: Bool = false,
        totals: SnapshotTotals? = nil,
        clientToken: [UInt8] = []
    ) {
        self.init()
        self.clientToken = clientToken
        self.token = token
        self.moreComing = moreComing
        self.totals = totals
    }
}
