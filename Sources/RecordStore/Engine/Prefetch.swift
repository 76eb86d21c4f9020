package import RecordModel

/// Rows that a job is going to ask for, as far as its request names them.
///
/// An engine to which each question is a round trip reads them for several jobs at once, before it
/// executes these. Nothing depends on it: a row that was not prefetched is read when it is asked for.
package struct Prefetch: Sendable {
    /// Records by name.
    package struct Records: Sendable {
        package let database: DatabaseID
        /// The name under which the database has the zone.
        package let zone: String
        package var names: [String]
    }

    /// A page of the feed of a zone.
    package struct Feed: Sendable {
        package let database: DatabaseID
        /// The name under which the database has the zone.
        package let zone: String
        /// The position behind which changes and deletions are read; `nil` if none are.
        package let after: Int64?
        /// How many of both.
        package let limit: Int
    }

    package var records: [Records] = []
    package var feed: Feed?
    /// The request of which there may be an outcome.
    package var request: (database: DatabaseID, id: RequestID)?

    package init() {}

    /// Records that a requester names, as far as the requester's database can have them.
    package init(_ ids: some Sequence<RecordID>, for requester: Requester) {
        var last: ZoneID?
        for id in ids {
            if id.zone != last {
                last = id.zone
                guard let zone = Access.storedName(of: id.zone, for: requester) else { continue }
                self.records.append(Records(database: requester.database, zone: zone, names: []))
            }
            guard Access.storedName(of: id.zone, for: requester) != nil else { continue }
            self.records[self.records.count - 1].names.append(id.recordName)
        }
    }
}
