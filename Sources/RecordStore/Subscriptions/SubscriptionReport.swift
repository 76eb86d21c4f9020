package import RecordModel
import StorageContract

/// The subscriptions of a user in a database, or of all users, and what their installations have
/// acknowledged: for an operator.
package struct SubscriptionReport: Hashable, Sendable {
    /// The progress of an installation with a subscription.
    package struct Cursor: Hashable, Sendable {
        package var installation: [UInt8]
        package var position: Int64
        /// When the installation came for changes last, milliseconds since 1970; `nil` if nothing is
        /// known of that.
        package var seenMilliseconds: Int64?
    }

    package struct Line: Hashable, Sendable {
        package var subscription: Subscription
        /// User record name.
        package var owner: String
        /// The position of its last save.
        package var savedPosition: Int64
        /// From here on it counts what happens.
        package var createdPosition: Int64
        package var cursors: [Cursor]
    }

    package var lines: [Line]
    /// Whether there are more subscriptions than lines.
    package var isTruncated: Bool
    /// The last position of the database.
    package var position: Int64

    /// Subscriptions of all users that a report lists.
    package static let linesMax = 1_000
}

extension SubscriptionReport {
    /// Maximum number of a user's zones for which installations are read.
    private static let seenRowsMax = 1_000

    init(for requester: Requester, rows: some TableReader) throws(StorageFailure) {
        let stored: [StoredSubscription]
        if requester.isOperator, requester.userRecordName == nil {
            let range = RowRange(SubscriptionRow.byOwner, requester.database)
            var found: [StoredSubscription] = []
            for row in try rows.rows(range, limit: Self.linesMax + 1) {
                found.append(row.stored(ownedBy: try rows.userRecordName(ofAuthor: row.owner)))
            }
            stored = found
        } else {
            stored = try rows.subscriptions(of: requester.userRecordName ?? "", in: requester.database)
        }
        self.isTruncated = stored.count > Self.linesMax
        self.position = try rows.state(of: requester.database)?.position ?? 0
        self.lines = []
        var seen: [String: [[UInt8]: Int64]] = [:]
        for subscription in stored.prefix(Self.linesMax) {
            let owner = subscription.key.owner
            if seen[owner] == nil {
                seen[owner] = try Self.lastSeen(owner, in: requester.database, rows)
            }
            let times = seen[owner] ?? [:]
            var cursors: [Cursor] = []
            for row in try rows.rows(RowRange(ListenerCursorRow.byKey, subscription.number)) {
                cursors.append(
                    Cursor(
                        installation: row.installation,
                        position: row.position,
                        seenMilliseconds: times[row.installation]
                    )
                )
            }
            self.lines.append(
                Line(
                    subscription: try subscription.subscription(),
                    owner: owner,
                    savedPosition: subscription.key.position,
                    createdPosition: subscription.createdPosition,
                    cursors: cursors
                )
            )
        }
    }

    /// When each installation of a user last came for changes of any zone of a database.
    private static func lastSeen(
        _ user: String,
        in database: DatabaseID,
        _ rows: some TableReader
    ) throws(StorageFailure) -> [[UInt8]: Int64] {
        var times: [[UInt8]: Int64] = [:]
        let range = RowRange(InstallationSeenRow.byUser, user, database)
        for row in try rows.rows(range, limit: Self.seenRowsMax) {
            times[row.installation] = max(times[row.installation] ?? 0, row.seen.atMilliseconds)
        }
        return times
    }
}
