package import RecordModel

/// Rows that a job is going to ask for, as far as its request names them.
///
/// An engine to which each question is a round trip reads them for several jobs at once, before it
/// executes these. Nothing depends on it: a row that was not prefetched is read when it is asked for.
///
/// A class, as nearly all jobs of other engines have none: then a copy of a job costs nothing more.
package final class Prefetch: Sendable {
    /// Records by name.
    package struct Records: Sendable {
        package let database: DatabaseID
        /// The name under which the database has the zone.
        package let zone: String
        package fileprivate(set) var names: [String]
    }

    /// A page of the feed of a zone.
    package struct Feed: Sendable {
        package let database: DatabaseID
        /// The name under which the database has the zone.
        package let zone: String
        /// The position behind which changes and deletions are read; `nil` if none are.
        package let after: Int64?
        /// The maximum number of both together.
        package let limit: Int
    }

    /// A request that may have been executed before, so that an outcome may be stored.
    package struct Request: Sendable {
        package let database: DatabaseID
        package let id: RequestID
    }

    package let records: [Records]
    package let feed: Feed?
    package let request: Request?

    package init(records: [Records] = [], feed: Feed? = nil, request: Request? = nil) {
        self.records = records
        self.feed = feed
        self.request = request
    }
}

extension Prefetch.Records {
    /// Records that a requester names, by zone, as far as the requester's database can have them.
    static func named(_ ids: some Sequence<RecordID>, by requester: Requester) -> [Self] {
        var named: [Self] = []
        var last: (id: ZoneID, isStored: Bool)?
        for id in ids {
            if id.zone != last?.id {
                let zone = Access.storedName(of: id.zone, for: requester)
                if let zone { named.append(Self(database: requester.database, zone: zone, names: [])) }
                last = (id.zone, zone != nil)
            }
            if last?.isStored == true { named[named.count - 1].names.append(id.recordName) }
        }
        return named
    }
}
