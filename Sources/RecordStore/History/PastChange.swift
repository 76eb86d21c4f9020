package import RecordModel
package import StorageContract

/// The extent of a zone's history.
package struct HistoryExtent: Hashable, Sendable {
    /// The first position from which on every state of the zone is known.
    package var since: Int64
    /// The first time from which on every state is known.
    package var sinceMilliseconds: Int64
    /// The last position of the database: where the zone is now.
    package var position: Int64
    /// The number of days for which a change stays.
    package var days: Int64

    package init(since: Int64, sinceMilliseconds: Int64, position: Int64, days: Int64) {
        self.since = since
        self.sinceMilliseconds = sinceMilliseconds
        self.position = position
        self.days = days
    }
}

/// A change in the history of a zone: who changed which record when.
package struct PastChange: Hashable, Sendable {
    package var position: Int64
    package var milliseconds: Int64
    /// User record name of who made the change.
    package var author: String
    /// The installation of the user that made it; empty if it did not say.
    package var installation: [UInt8]
    package var kind: RecordChangeKind
    package var recordName: String
    package var recordType: String
    /// The position of the replaced record; `nil` if the change made the record.
    package var before: Int64?

    package init(
        position: Int64,
        milliseconds: Int64,
        author: String,
        installation: [UInt8] = [],
        kind: RecordChangeKind,
        recordName: String,
        recordType: String,
        before: Int64?
    ) {
        self.position = position
        self.milliseconds = milliseconds
        self.author = author
        self.installation = installation
        self.kind = kind
        self.recordName = recordName
        self.recordType = recordType
        self.before = before
    }
}

/// A record as it was before a change.
package struct PastRecord: Hashable, Sendable {
    package var name: String
    package var recordType: String
    package var system: SystemFields
    package var parent: String?
    package var body: RecordBody

    package init(
        name: String,
        recordType: String,
        system: SystemFields,
        parent: String?,
        body: RecordBody
    ) {
        self.name = name
        self.recordType = recordType
        self.system = system
        self.parent = parent
        self.body = body
    }
}
