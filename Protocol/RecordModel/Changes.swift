/// What changed in a zone after a token, a page at a time.
///
/// Items of the answer are numbered as they come.
package struct FetchChanges: Hashable, Sendable {
    /// How a snapshot comes; in both orders a parent comes before its children.
    package enum SnapshotOrder: UInt8, Hashable, Sendable {
        case creation = 0
        case newestFirst = 1
    }

    package var scope: DatabaseScope
    package var zone: ZoneID
    /// Empty: from the beginning, which is a snapshot of what is alive.
    package var token: [UInt8]
    /// All fields if `nil`, none if empty.
    package var desiredKeys: [String]?
    /// Records of a page, at most `Bounds.feedPageMax`; 0: as many as the server gives.
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

/// Which zones changed or were deleted after a token, a page at a time.
///
/// Items of the answer are numbered as they come.
package struct FetchDatabaseChanges: Hashable, Sendable {
    package var scope: DatabaseScope
    /// Empty: from the beginning.
    package var token: [UInt8]
    /// Zones of a page, at most `Bounds.feedPageMax`; 0: as many as the server gives.
    package var limit: UInt32

    package init(scope: DatabaseScope, token: [UInt8] = [], limit: UInt32 = 0) {
        self.scope = scope
        self.token = token
        self.limit = limit
    }
}

/// The token for now, of a zone or of a database.
///
/// The answer has no items.
package struct FetchToken: Hashable, Sendable {
    package var scope: DatabaseScope
    /// The database's token if `nil`.
    package var zone: ZoneID?

    package init(scope: DatabaseScope, zone: ZoneID? = nil) {
        self.scope = scope
        self.zone = zone
    }
}

/// What a snapshot has in all, when it began.
package struct SnapshotTotals: Hashable, Sendable {
    package var records: UInt64
    /// Encoded bodies.
    package var bytes: UInt64

    package init(records: UInt64, bytes: UInt64) {
        self.records = records
        self.bytes = bytes
    }
}

/// A record that a feed says is gone.
package struct DeletedRecord: Hashable, Sendable {
    package var id: RecordID
    package var recordType: String

    package init(id: RecordID, recordType: String) {
        self.id = id
        self.recordType = recordType
    }
}
