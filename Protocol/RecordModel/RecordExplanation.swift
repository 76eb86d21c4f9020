/// Asks for the server's information about one record.
package struct ExplainRecord: Hashable, Sendable {
    package var scope: DatabaseScope
    package var id: RecordID

    package init(scope: DatabaseScope, id: RecordID) {
        self.scope = scope
        self.id = id
    }
}

/// An explanation of one record: its access rights, its subscriptions, and the installations that
/// have it.
package struct RecordExplanation: Hashable, Sendable {
    /// The rights of a user or a role to the record.
    package struct Access: Hashable, Sendable {
        /// A user record name, a role, or an address that was invited.
        package var who: String
        package var may: Rights
        package var why: String

        package init(who: String, may: Rights, why: String) {
            self.who = who
            self.may = may
            self.why = why
        }
    }

    package struct Rights: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package static let read = Rights(rawValue: 1 << 0)
        package static let create = Rights(rawValue: 1 << 1)
        /// Change and delete.
        package static let write = Rights(rawValue: 1 << 2)

        package init(rawValue: UInt32) { self.rawValue = rawValue }
    }

    /// A subscription, and whether it matches the last change of the record.
    package struct Match: Hashable, Sendable {
        package var subscriptionID: String
        package var userRecordName: String
        package var isMatch: Bool
        package var why: String

        package init(subscriptionID: String, userRecordName: String, isMatch: Bool, why: String) {
            self.subscriptionID = subscriptionID
            self.userRecordName = userRecordName
            self.isMatch = isMatch
            self.why = why
        }
    }

    /// The progress of an installation in the zone of the record.
    package struct Delivery: Hashable, Sendable {
        package enum State: UInt8, Hashable, Sendable, CaseIterable {
            /// A state that this version does not know.
            case unknown = 0
            /// It fetched again with a token after the record's last change.
            case hasIt = 1
            /// A page with the record was sent, and the installation has not fetched again since.
            case wasSent = 2
            /// It has an earlier state of the zone.
            case isBehind = 3
            /// It never fetched the changes of the zone.
            case neverCame = 4
            case mayNotRead = 5
            /// It began to follow the zone after the record's last change, with the token of that
            /// moment.
            case passedOver = 6
        }

        /// 16 bytes; empty if no installation of the user is known.
        package var installation: [UInt8]
        package var userRecordName: String
        package var state: State
        /// Changes of the zone that the installation does not have; 0 if they were not counted.
        package var changesBehind: UInt64
        /// The position up to which the installation has every change; 0 if it has none.
        package var position: Int64
        /// When it last fetched, milliseconds since 1970; 0 if it never did.
        package var seenMilliseconds: Int64
        /// Empty if the state needs no explanation.
        package var why: String

        package init(
            installation: [UInt8],
            userRecordName: String,
            state: State,
            changesBehind: UInt64 = 0,
            position: Int64 = 0,
            seenMilliseconds: Int64 = 0,
            why: String = ""
        ) {
            self.installation = installation
            self.userRecordName = userRecordName
            self.state = state
            self.changesBehind = changesBehind
            self.position = position
            self.seenMilliseconds = seenMilliseconds
            self.why = why
        }
    }

    /// The record without fields.
    package var record: Record
    /// The position of its last change in its database.
    package var position: Int64
    package var access: [Access]
    package var matches: [Match]
    package var deliveries: [Delivery]
    /// Whether more subscriptions or installations are known than are listed.
    package var isTruncated: Bool

    package init(
        record: Record,
        position: Int64,
        access: [Access] = [],
        matches: [Match] = [],
        deliveries: [Delivery] = [],
        isTruncated: Bool = false
    ) {
        self.record = record
        self.position = position
        self.access = access
        self.matches = matches
        self.deliveries = deliveries
        self.isTruncated = isTruncated
    }
}
