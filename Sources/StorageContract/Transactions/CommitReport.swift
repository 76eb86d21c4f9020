import RecordModel

/// The changes of one transaction in watched databases, bounded in number and bytes.
///
/// An engine has one for each transaction. After the commit it passes the result to the
/// `CommitObserver`.
package struct CommitReport: Sendable {
    private static let changesMax = 100_000
    private static let bytesMax = 32 * 1024 * 1024
    /// The bytes of a change besides its bodies.
    private static let overheadBytes = 256

    /// The environment of each database that was watched when the transaction began.
    package private(set) var watched: [DatabaseID: EnvironmentID] = [:]
    /// The origin of the request that is being executed.
    package var origin: ChangeOrigin?
    private var changes: [CommittedChange] = []
    package private(set) var incomplete: [DatabaseID: Int64] = [:]
    private var bytes = 0

    package init() {}

    package init(watched: [DatabaseID: EnvironmentID]) {
        self.watched = watched
    }

    /// Notes that the database has more changes than are noted.
    package mutating func noteMore(in database: DatabaseID, upTo position: Int64) {
        self.incomplete[database] = position
    }

    /// Notes a change of a watched database.
    ///
    /// Beyond the bounds, changes of records are only counted. Subscriptions and zones are always
    /// reported, as each of them costs the writer much more than an entry here.
    package mutating func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID) {
        guard let environment = self.watched[database] else { return }
        if case .record(let record) = kind {
            let bytes =
                (record.before?.body.bytes.count ?? 0) + (record.after?.body.bytes.count ?? 0)
                + Self.overheadBytes
            guard self.bytes + bytes <= Self.bytesMax, self.changes.count < Self.changesMax else {
                self.noteMore(in: database, upTo: position)
                return
            }
            self.bytes += bytes
        }
        self.changes.append(
            CommittedChange(
                database: database,
                environment: environment,
                position: position,
                origin: self.origin,
                kind: kind
            )
        )
    }

    /// The report, or `nil` if there is nothing to report.
    package func committed(atMilliseconds now: Int64) -> CommittedChanges? {
        guard !self.changes.isEmpty || !self.incomplete.isEmpty else { return nil }
        return CommittedChanges(
            committedMilliseconds: now,
            changes: self.changes,
            incomplete: self.incomplete
        )
    }
}
