/// Every limit of the protocol and the record model in one place.
///
/// Units are in the names; `Protocol/README.md`, section 7, says why each is what it is, and which of them an
/// operator may change.
package struct Bounds: Hashable, Sendable {
    /// Payload of one frame.
    package var frameBytesMax = 3 * 1024 * 1024
    /// Saves and deletes in one modify request; IDs in one fetch request: CloudKit's number.
    package var requestItemsMax = 400
    /// An encoded request without assets; CloudKit's number.
    package var requestBytesMax = 2 * 1024 * 1024
    /// The encoded fields of one record without assets; CloudKit's number.
    package var recordBytesMax = 1024 * 1024
    /// The encoded fields of all records of one answer: bounds what a fetch makes the server hold.
    package var answerBytesMax = 16 * 1024 * 1024
    /// One asset.
    package var assetBytesMax: Int64 = 1024 * 1024 * 1024 * 1024
    /// Requests without an answer on one connection.
    package var inFlightMax = 128
    /// `deleteSelf` references to one target; CloudKit's number.
    package var deleteSelfReferencesMax = 750
    /// Records that the deletes of a request may take along in a zone, or find in their way,
    /// themselves included: bounds memory.
    package var cascadeRecordsMax = 50_000
    /// Of them, those that one transaction deletes: more go in turns, beside the requests of others.
    package var cascadeTurnMax = 250
    /// Of them, those that can only go together, since they refer to each other in a circle or to
    /// what the request saves.
    package var cascadeTogetherMax = 1_000
    /// Ancestors of a record.
    package var parentDepthMax = 100
    /// Zones of a database, `_defaultZone` included: bounds the answer that lists them all.
    package var zonesMax = 10_000

    /// URLs of shares that lead nowhere, which one user may ask for in a minute: bounds what guessing tells.
    package var shareMissesPerMinuteMax = 100

    package static let defaults = Bounds()

    package init() {}

    /// An encoded request of somebody who is not signed in: a query fits.
    package static let strangerRequestBytesMax = 320 * 1024
    /// What surrounds a request in its frame.
    package static let requestFramingBytesMax = 4 * 1024
    /// Bytes of a name: container, zone, record, record type, field.
    package static let nameBytesMax = 255
    /// Fields of one record.
    package static let fieldsMax = 1_000
    /// Fields of a record type, by whichever saves and schemas they were declared: bounds the
    /// writer's time for a type.
    package static let recordTypeFieldsMax = 1_000
    /// Record types of an environment, that of user records included.
    package static let recordTypesMax = 1_000
    /// Elements of one list value.
    package static let listElementsMax = 10_000
    /// An encoded query: it travels again with every cursor.
    package static let queryBytesMax = 256 * 1024
    /// Levels of a predicate.
    package static let predicateDepthMax = 32
    /// Comparisons of one predicate.
    package static let comparisonsMax = 400
    /// Elements of all lists in one predicate.
    package static let operandElementsMax = 10_000
    package static let sortKeysMax = 8
    /// Records of one page of a query.
    package static let queryPageMax = 400
    /// Index entries and records that one page of a query reads.
    package static let queryReadsMax = 20_000
    /// Comparisons of records with a predicate for one page of a query.
    package static let queryComparisonsMax = 500_000
    /// Records that are collected for a sort that no index orders.
    package static let querySortMax = 100_000
    /// A schema in the CloudKit Schema Language.
    package static let schemaBytesMax = 1024 * 1024
    /// What a schema may lack, as the answer to a check names it.
    package static let missingMax = 10_000
    /// The same in bytes: the answer is one frame.
    package static let missingBytesMax = 512 * 1024
    /// Records of a page of a zone's feed, zones of a page of a database's.
    package static let feedPageMax = 1_000
    /// A token, which the server makes and seals.
    package static let tokenBytesMax = 1_024
    /// What a client has kept with a zone.
    package static let clientTokenBytesMax = 1_024
    /// Subscriptions of a user in a database: each is held in memory while somebody listens.
    package static let subscriptionsMax = 10_000
    /// Changes that wait to be compared with subscriptions, and the memory that they hold.
    package static let routerChangesMax = 65_536
    package static let routerBytesMax = 32 * 1024 * 1024
    /// Comparisons of changes with subscriptions that users may owe together: what they owe is paid
    /// off as time passes.
    package static let subscriptionDebtMax = 400_000
    /// Comparisons that a user pays off in a second.
    package static let subscriptionDebtPerSecond = 500_000
    /// Comparisons that all users pay off together.
    package static let subscriptionDebtTotalPerSecond = 4_000_000
    /// An encoded subscription.
    package static let subscriptionBytesMax = 16 * 1024
    /// Of it, what its notifications say.
    package static let notificationInfoBytesMax = 4 * 1024
    /// Names of fields whose values go into one localized text.
    package static let localizationArgsMax = 20
    /// Fields whose values a notification carries; CloudKit's number.
    package static let notificationKeysMax = 3
    /// An encoded notification: values that would make it larger stay out of it.
    package static let notificationBytesMax = 16 * 1024
    /// Notifications that a connection has not acknowledged.
    package static let notificationsUnacknowledgedMax = 64
    /// Participants of a share, its owner included, and entries of each list of one change;
    /// CloudKit's number.
    package static let participantsMax = 100
    /// A participant's ID, and what follows the last slash of a share's URL.
    package static let shareTokenBytesMax = 64
    /// Bytes of an asset in one frame.
    package static let assetDataBytesMax = 256 * 1024
    /// Those who asked to join a share, and those who may not ask any more.
    package static let shareRequestersMax = 100
    /// How far ahead a request that is refused for want of room may be given a time at which it
    /// will be admitted.
    package static let reservationMillisecondsMax = 5_000
    /// How long after that time it still is.
    package static let reservationGraceMilliseconds = 2_000
    /// Text of an error or a goaway, for people.
    package static let messageBytesMax = 1_024
}

/// What names may look like.
///
/// Each answers whether the bytes are one.
package enum NameRules {
    /// Zone and record names: 1 to 255 printable ASCII bytes that do not start with `_`.
    package static func isItemName(_ name: String) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, bytes.count <= Bounds.nameBytesMax, first != UInt8(ascii: "_") else {
            return false
        }
        return bytes.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// The record name of a user record: `_` and 32 lower-case hexadecimal digits.
    package static func isUserRecordName(_ name: String) -> Bool {
        let bytes = name.utf8
        guard bytes.count == 33, bytes.first == UInt8(ascii: "_") else { return false }
        return bytes.dropFirst().allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
    }

    /// Subscription IDs: 1 to 255 printable ASCII bytes.
    package static func isSubscriptionID(_ id: String) -> Bool {
        (1...Bounds.nameBytesMax).contains(id.utf8.count) && id.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Participants' IDs: 1 to 64 printable ASCII bytes.
    package static func isParticipantID(_ id: String) -> Bool {
        (1...Bounds.shareTokenBytesMax).contains(id.utf8.count)
            && id.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Record types and field names: an ASCII letter, then letters, digits and `_`; at most 255 bytes.
    package static func isIdentifier(_ bytes: String.UTF8View) -> Bool {
        guard let first = bytes.first, bytes.count <= Bounds.nameBytesMax, self.isLetter(first) else {
            return false
        }
        return bytes.allSatisfy(self.mayBeInIdentifier)
    }

    /// The same of a part of something larger: a slice of it would be walked through witnesses,
    /// which takes ten times as long.
    static func isIdentifier(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        guard !range.isEmpty, range.count <= Bounds.nameBytesMax, self.isLetter(bytes[range.lowerBound])
        else { return false }
        for place in range where !self.mayBeInIdentifier(bytes[place]) { return false }
        return true
    }

    private static func mayBeInIdentifier(_ byte: UInt8) -> Bool {
        self.isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "_")
    }

    /// Container identifiers: 1 to 255 bytes of letters, digits, `.`, `-` and `_`, starting with a letter.
    package static func isContainerID(_ name: String) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, bytes.count <= Bounds.nameBytesMax, self.isLetter(first) else {
            return false
        }
        return bytes.allSatisfy {
            self.isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                || $0 == UInt8(ascii: "_")
                || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
