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

/// The large and rare ones are behind a reference: a page has hundreds of the small ones.
package enum ItemOutcome: Hashable, Sendable {
    indirect case failure(Failure)
    case recordSaved(RecordSaved)
    case deleted
    case record(RecordMessage)
    case zone(Zone)
    /// In a zone's feed.
    case recordDeleted(DeletedRecord)
    /// In a database's feed; also when the zone was created.
    case zoneChanged(ZoneID)
    /// In a database's feed.
    case zoneDeleted(ZoneID)
    indirect case subscription(Subscription)
    indirect case shareMetadata(ShareMetadata)
    indirect case participant(ShareParticipant)
    /// It was done, and there is nothing to say about it.
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

/// What went wrong, and what to do about it.
package struct Failure: Error, Hashable, Sendable {
    /// The item at fault within the request.
    package enum Cause: Hashable, Sendable {
        case culprit
        /// It needs the item with this number, which failed.
        case dependsOn(index: UInt32)
        /// Another item of the atomic batch failed: the one with this number.
        case atomicPeer(index: UInt32)
    }

    package var code: ErrorCode
    /// For people, never to be matched.
    package var message: String
    package var cause: Cause
    package var retry: RetryAdvice
    /// With `serverRecordChanged`: the record that the server has, whole.
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
    /// The request as a whole failed.
    package var failure: Failure?
    /// Of a query: there may be more, and this goes into the next request.
    package var cursor: [UInt8]
    /// Of a query that counts: records of this page.
    package var count: UInt64
    /// Of `check_schema`: what the environment lacks, a line each.
    package var missing: [String]
    /// Of a feed, on every page, and of `fetch_token`: what goes into the next request.
    package var token: [UInt8]
    /// Of a feed: there is more already.
    package var moreComing: Bool
    /// Of a feed, on every page of a snapshot.
    package var totals: SnapshotTotals?
    /// Of the feed of a zone, on every page: what the client has kept with the zone; empty if nothing.
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
