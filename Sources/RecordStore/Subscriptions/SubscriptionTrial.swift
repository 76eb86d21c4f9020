package import RecordModel
import StorageContract

/// A dry run of a subscription over the last changes of a zone or a database, without a write.
///
/// A record counts with its last change, as it is now: earlier changes of it are in no order any
/// more, and the contents of a deleted record are gone.
package struct SubscriptionTrial: Hashable, Sendable {
    package enum Event: Hashable, Sendable {
        case creation
        case update
        case deletion
    }

    package enum Verdict: Hashable, Sendable {
        case fires
        case doesNotFire
        /// The record is gone, and with it the fields to test a condition on.
        case unknown
    }

    /// A change, and the subscription's response to it.
    package struct Line: Hashable, Sendable {
        package var position: Int64
        package var id: RecordID
        package var recordType: String
        package var event: Event
        /// The time of the change; `nil` for a deletion.
        package var modifiedMilliseconds: Int64?
        package var verdict: Verdict
        package var why: String
    }

    /// The newest first.
    package internal(set) var lines: [Line] = []
    /// Entries of the order of changes that were read, stale ones included.
    package internal(set) var changesRead = 0
    package internal(set) var recordsRead = 0
    package internal(set) var comparisons = 0
    /// Whether there are no earlier changes than those of the lines.
    package internal(set) var isComplete = false

    /// Maximum number of changes that one dry run reports.
    package static let linesMax = 1_000
}

/// The order for a dry run.
package struct SubscriptionTrialRead: Sendable {
    package var subscription: Subscription
    /// The position at which the subscription was saved last; `nil` if it has not been saved.
    package var savedPosition: Int64?
    /// The zone with the changes that are read; `nil` for all of the database.
    package var zone: ZoneID?
    /// The maximum number of changes to report, at most `SubscriptionTrial.linesMax`.
    package var limit: Int

    package init(_ subscription: Subscription, savedPosition: Int64? = nil, zone: ZoneID?, limit: Int) {
        self.subscription = subscription
        self.savedPosition = savedPosition
        self.zone = zone
        self.limit = limit
    }
}
