package import RecordModel

/// The data that a job is going to ask for first.
///
/// An engine to which each question is a round trip reads that for several jobs at once, before it
/// executes these. Nothing depends on it: what was not prefetched is read when it is asked for.
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

    /// A request that may have been executed before, so that an outcome may be stored.
    package struct Request: Sendable {
        package let database: DatabaseID
        package let id: RequestID
    }

    package let records: [Records]
    package let request: Request?
    /// The first questions of a read, by what the engine knows.
    ///
    /// It gets whether the job is read as an attempt.
    package let reads: (@Sendable (any KnownRows, _ isAttempt: Bool) -> [SnapshotRead])?

    package init(
        records: [Records] = [],
        request: Request? = nil,
        reads: (@Sendable (any KnownRows, _ isAttempt: Bool) -> [SnapshotRead])? = nil
    ) {
        self.records = records
        self.request = request
        self.reads = reads
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
