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
        package var names: [String]

        package init(database: DatabaseID, zone: String, names: [String]) {
            self.database = database
            self.zone = zone
            self.names = names
        }
    }

    /// A request that may have been executed before, so that an outcome may be stored.
    package struct Request: Sendable {
        package let database: DatabaseID
        package let id: RequestID

        package init(database: DatabaseID, id: RequestID) {
            self.database = database
            self.id = id
        }
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
