package import RecordModel

/// The subscriptions of a user in a database, and what their installations have acknowledged: for an
/// operator.
package struct SubscriptionReport: Hashable, Sendable {
    /// The progress of an installation with a subscription.
    package struct Cursor: Hashable, Sendable {
        package var installation: [UInt8]
        package var position: Int64
    }

    package struct Line: Hashable, Sendable {
        package var subscription: Subscription
        /// From here on it counts what happens.
        package var createdPosition: Int64
        package var cursors: [Cursor]
    }

    package var lines: [Line]
    /// The last position of the database.
    package var position: Int64
}

extension Store {
    /// Reads the report of the requester, in one snapshot.
    ///
    /// Blocks. The positions of listeners are written down a second or two after they acknowledge.
    ///
    /// - Throws: `StoreError.storageUnavailable`.
    package func subscriptionReport(for requester: Requester) throws(StoreError) -> SubscriptionReport {
        let owner = requester.userRecordName ?? ""
        do {
            return try self.engine.readTables { rows in
                let stored = try rows.subscriptions(of: owner, in: requester.database)
                let lines = try stored.map { subscription in
                    SubscriptionReport.Line(
                        subscription: try subscription.subscription(),
                        createdPosition: subscription.createdPosition,
                        cursors: try rows.rows(RowRange(ListenerCursorRow.byKey, subscription.number)).map {
                            SubscriptionReport.Cursor(installation: $0.installation, position: $0.position)
                        }
                    )
                }
                return SubscriptionReport(
                    lines: lines,
                    position: try rows.state(of: requester.database)?.position ?? 0
                )
            }
        } catch {
            throw .storageUnavailable(retryAfterMilliseconds: 1_000)
        }
    }
}
