/// Fetches the changes of a zone after a token, a page at a time.
///
/// Items of the response are numbered in the order in which they are sent.
package struct FetchChanges: Hashable, Sendable {
    /// The order of a snapshot.
    ///
    /// In both orders a parent comes before its children.
    package enum SnapshotOrder: UInt8, Hashable, Sendable {
        case creation = 0
        case newestFirst = 1
    }

    package var scope: DatabaseScope
    package var zone: ZoneID
    /// Empty to start from the beginning, with a snapshot of the existing records.
    package var token: [UInt8]
    /// `nil` for all fields; an empty list for none.
    package var desiredKeys: [String]?
    /// Records per page, at most `Bounds.feedPageMax`; 0 lets the server decide.
    package var limit: UInt32
    package var order: SnapshotOrder

    package init(
        scope: DatabaseScope,
        zone: ZoneID,
        token: [UInt8] = [],
        desiredKeys: [String]? = nil,
        limit: UInt32 = 0,
        order: SnapshotOrder = .creation
    ) {
        self.scope = scope
        self.zone = zone
        self.token = token
        self.desiredKeys = desiredKeys
        self.limit = limit
        self.order = order
    }
}

/// Fetches the zones that changed or were deleted after a token, a page at a time.
///
/// Items of the response are numbered in the order in which they are sent.
package struct FetchDatabaseChanges: Hashable, Sendable {
    package var scope: DatabaseScope
    /// Empty to start from the beginning.
    package var token: [UInt8]
    /// Zones per page, at most `Bounds.feedPageMax`; 0 lets the server decide.
    package var limit: UInt32

    package init(scope: DatabaseScope, token: [UInt8] = [], limit: UInt32 = 0) {
        self.scope = scope
        self.token = token
        self.limit = limit
    }
}

/// Fetches the current token of a zone or of a database.
///
/// The response has no items.
package struct FetchToken: Hashable, Sendable {
    package var scope: DatabaseScope
    /// `nil` for the token of the database.
    package var zone: ZoneID?

    package init(scope: DatabaseScope, zone: ZoneID? = nil) {
        self.scope = scope
        self.zone = zone
    }
}

/// The size of a snapshot when it began.
package struct SnapshotTotals: Hashable, Sendable {
    package var records: UInt64
    /// Size of the encoded bodies.
    package var bytes: UInt64

    package init(records: UInt64, bytes: UInt64) {
        self.records = records
        self.bytes = bytes
    }
}

/// A deleted record in a feed.
package struct DeletedRecord: Hashable, Sendable {
    package var id: RecordID
    package var recordType: String

    package init(id: RecordID, recordType: String) {
        self.id = id
        self.recordType = recordType
    }
}
