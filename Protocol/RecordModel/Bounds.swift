/// Every limit of the protocol and the record model.
///
/// Names contain the units. `Protocol/README.md`, section 7, has the reason for each, and tells
/// which of them an operator may change.
package struct Bounds: Hashable, Sendable {
    /// Payload of one frame.
    package var frameBytesMax = 3 * 1024 * 1024
    /// Saves and deletes in one modify request, IDs in one fetch request.
    ///
    /// The number is CloudKit's.
    package var requestItemsMax = 400
    /// An encoded request without assets.
    ///
    /// The number is CloudKit's.
    package var requestBytesMax = 2 * 1024 * 1024
    /// The encoded fields of one record without assets.
    ///
    /// The number is CloudKit's.
    package var recordBytesMax = 1024 * 1024
    /// The encoded fields of all records of one response.
    ///
    /// Bounds the server's memory for a fetch.
    package var responseBytesMax = 16 * 1024 * 1024
    /// One asset.
    package var assetBytesMax: Int64 = 1024 * 1024 * 1024 * 1024
    /// Requests without a response on one connection.
    package var inFlightMax = 128
    /// `deleteSelf` references to one target.
    ///
    /// The number is CloudKit's.
    package var deleteSelfReferencesMax = 750
    /// Maximum number of records in a zone that the deletes of a request cascade to or are blocked
    /// by, including the named ones.
    ///
    /// Bounds memory.
    package var cascadeRecordsMax = 50_000
    /// Records of a cascade that one transaction deletes.
    ///
    /// The rest takes turns with the requests of others.
    package var cascadeTurnMax = 250
    /// Index entries of the records of a cascade that one transaction deletes, unless it deletes
    /// one record.
    ///
    /// 10 ms of the writer, as each takes about 5 µs.
    package var cascadeEntriesMax = 2_000
    /// Bytes of bodies that one transaction of a cascade deletes, unless it deletes one record.
    ///
    /// Takes as long as `cascadeEntriesMax`: SQLite overwrites deleted data.
    package var cascadeBytesMax = 8 * 1024 * 1024
    /// Records of a cascade that must be deleted together: they refer to each other in a circle, or
    /// to records that the request saves.
    package var cascadeTogetherMax = 1_000
    /// Ancestors of a record.
    package var parentDepthMax = 100
    /// Changes of index entries by one request; four words of full text count as one.
    ///
    /// Bounds the writer's time. 400 records with 25 indexed fields of one value each fit, even if
    /// all values change.
    package var requestEntriesMax = 20_000
    /// Bytes of the stored bodies that one request changes or deletes, unless it names one record.
    ///
    /// Bounds the writer's time and memory: a change rewrites the whole record. 400 records of 20
    /// KiB fit.
    package var requestStoredBytesMax = 8 * 1024 * 1024
    /// Records that one request brings under a share, or takes out of one.
    ///
    /// Bounds the writer's time. A share of the whole zone has no such bound.
    package var sharedTreeMax = 20_000
    /// Shares, and users who have joined them, that one transaction ends with their zones.
    package var sharesTurnMax = 500
    /// Fields and record types that one request adds to the schema.
    ///
    /// Bounds the writer's time. A record with the maximum number of fields fits.
    package var requestDefinitionsMax = 2_000
    /// Comparisons of all subscriptions that one request saves.
    ///
    /// Bounds the writer's time. 400 subscriptions with ten comparisons each fit.
    package var requestComparisonsMax = 4_000
    /// Zones of a database, `_defaultZone` included.
    ///
    /// Bounds the response that lists all of them.
    package var zonesMax = 10_000

    /// Unknown share URLs that one user may ask for in a minute.
    ///
    /// Bounds what guessing reveals.
    package var shareMissesPerMinuteMax = 100

    package static let defaults = Bounds()

    package init() {}

    /// An encoded request of a client that is not signed in.
    ///
    /// A query fits.
    package static let strangerRequestBytesMax = 320 * 1024
    /// The part of a frame around its request.
    package static let requestFramingBytesMax = 4 * 1024
    /// Bytes of a name: container, zone, record type, field.
    package static let nameBytesMax = 255
    /// UTF-16 code units of a record name.
    ///
    /// The number is CloudKit's.
    package static let recordNameUnitsMax = 255
    /// Bytes of a record name in UTF-8, which takes at most three for a UTF-16 code unit.
    package static let recordNameBytesMax = 3 * recordNameUnitsMax
    /// Fields of one record.
    package static let fieldsMax = 1_000
    /// Fields of a record type, from all saves and schemas.
    ///
    /// Bounds the writer's time per type.
    package static let recordTypeFieldsMax = 1_000
    /// Record types of an environment, including user records.
    package static let recordTypesMax = 1_000
    /// Elements of one list value.
    package static let listElementsMax = 10_000
    /// An encoded query, which travels again with every cursor.
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
    /// Bytes of bodies that one page of a query or of a zone's feed reads.
    ///
    /// A page of few desired keys reads whole records.
    package static let pageReadBytesMax = 256 * 1024 * 1024
    /// Comparisons of records with a predicate for one page of a query.
    package static let queryComparisonsMax = 500_000
    /// Records that are collected for an order that no index gives.
    package static let querySortMax = 100_000
    /// Bytes of the bodies of such records.
    package static let querySortBytesMax = 1024 * 1024 * 1024
    /// A schema in the CloudKit Schema Language, in bytes.
    package static let schemaBytesMax = 1024 * 1024
    /// Missing parts of a schema in the response to a check.
    package static let missingMax = 10_000
    /// The size of this list in bytes, because the response is one frame.
    package static let missingBytesMax = 512 * 1024
    /// Records of a page of a zone's feed, or zones of a page of a database's.
    package static let feedPageMax = 1_000
    /// A signed token that the server makes.
    package static let tokenBytesMax = 1_024
    /// A token that a client stores with a zone.
    package static let clientTokenBytesMax = 1_024
    /// Subscriptions of a user in a database.
    ///
    /// Each is in memory while a client listens.
    package static let subscriptionsMax = 10_000
    /// Bytes of the encoded definitions of all of a user's subscriptions in a database.
    ///
    /// Bounds the writer's time when a client begins to listen. Some 20,000 comparisons fit.
    package static let subscriptionsBytesMax = 1024 * 1024
    /// Subscriptions, and installations, in the explanation of a record.
    package static let explainedMax = 1_000
    /// Comparisons of the subscriptions in the explanation of a record.
    ///
    /// Bounds the reader's time. Subscriptions beyond it are left out.
    package static let explainedComparisonsMax = 10_000
    /// Changes that wait to be compared with subscriptions.
    ///
    /// Bounds their memory.
    package static let routerChangesMax = 65_536
    package static let routerBytesMax = 32 * 1024 * 1024
    /// Bound on the debt of comparisons with subscriptions, over all users.
    ///
    /// It is paid off over time.
    package static let subscriptionDebtMax = 400_000
    /// Comparisons that one user pays off per second.
    package static let subscriptionDebtPerSecond = 500_000
    /// Comparisons that all users together pay off per second.
    package static let subscriptionDebtTotalPerSecond = 4_000_000
    /// An encoded subscription.
    package static let subscriptionBytesMax = 16 * 1024
    /// The part of a subscription that describes its notifications.
    package static let notificationInfoBytesMax = 4 * 1024
    /// Field names with values that are inserted into one localized text.
    package static let localizationArgsMax = 20
    /// Fields with values that a notification carries.
    ///
    /// The number is CloudKit's.
    package static let notificationKeysMax = 3
    /// An encoded notification.
    ///
    /// Values that would make it larger are left out.
    package static let notificationBytesMax = 16 * 1024
    /// Unacknowledged notifications of a connection.
    package static let notificationsUnacknowledgedMax = 64
    /// Participants of a share, its owner included, and entries of each list of one change.
    ///
    /// The number is CloudKit's.
    package static let participantsMax = 100
    /// A participant's ID, and the part of a share's URL after the last slash.
    package static let shareTokenBytesMax = 64
    /// Bytes of an asset in one frame.
    package static let assetDataBytesMax = 256 * 1024
    /// Users who have asked to join a share, and users who may not ask again.
    package static let shareRequestersMax = 100
    /// How far in the future the reservation of a rejected request may begin.
    package static let reservationMillisecondsMax = 5_000
    /// How long a reservation stays valid after its beginning.
    package static let reservationGraceMilliseconds = 2_000
    /// Text of an error or a goaway, for people, in bytes.
    package static let messageBytesMax = 1_024
}

/// The rules for names.
///
/// Each function tests whether the bytes are a valid name.
package enum NameRules {
    /// Names of zones and users: 1 to 255 printable ASCII bytes that do not start with `_`.
    package static func isItemName(_ name: String) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, bytes.count <= Bounds.nameBytesMax, first != UInt8(ascii: "_") else {
            return false
        }
        return bytes.allSatisfy { (0x20...0x7E).contains($0) }
    }

    /// Record names: 1 to 255 UTF-16 code units without control characters that do not start with
    /// `_`.
    ///
    /// A `String` is well-formed Unicode. Nearly all names are ASCII, which takes one pass over the
    /// bytes.
    package static func isRecordName(_ name: String) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, first != UInt8(ascii: "_"), bytes.count <= Bounds.recordNameBytesMax
        else { return false }
        if bytes.count <= Bounds.recordNameUnitsMax, bytes.allSatisfy({ (0x20...0x7E).contains($0) }) {
            return true
        }
        return name.utf16.count <= Bounds.recordNameUnitsMax
            && name.unicodeScalars.allSatisfy { !self.isControl($0) }
    }

    /// The rule for record names, for people.
    package static let recordNameRule =
        "a record name has 1 to \(Bounds.recordNameUnitsMax) UTF-16 code units, "
        + "no control characters, and does not start with '_'"

    /// A name that may break any rule, for people: in quotes, truncated, and without terminal
    /// control characters.
    package static func quoted(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars.prefix(Bounds.nameBytesMax) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text.unicodeScalars.count < name.unicodeScalars.count ? "'\(text)…'" : "'\(text)'"
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
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

    /// Record types and field names: an ASCII letter, then letters, digits and `_`; at most 255
    /// bytes.
    package static func isIdentifier(_ bytes: String.UTF8View) -> Bool {
        guard let first = bytes.first, bytes.count <= Bounds.nameBytesMax, self.isLetter(first) else {
            return false
        }
        return bytes.allSatisfy(self.mayBeInIdentifier)
    }

    /// A name that CloudKit itself gives: `cloudkit.` and an identifier, as `cloudkit.share`.
    ///
    /// Schemas have such types and fields, and clients save none.
    package static func isCloudKitName(_ name: String) -> Bool {
        let prefix = "cloudkit."
        return name.hasPrefix(prefix) && name.utf8.count <= Bounds.nameBytesMax
            && self.isIdentifier(String(name.dropFirst(prefix.count)).utf8)
    }

    /// Like `isIdentifier`, for a part of a larger array.
    ///
    /// A slice would go through witness tables, which takes ten times as long.
    static func isIdentifier(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        guard !range.isEmpty, range.count <= Bounds.nameBytesMax, self.isLetter(bytes[range.lowerBound])
        else { return false }
        for index in range where !self.mayBeInIdentifier(bytes[index]) { return false }
        return true
    }

    private static func mayBeInIdentifier(_ byte: UInt8) -> Bool {
        self.isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "_")
    }

    /// Container identifiers: 1 to 255 bytes of letters, digits, `.`, `-` and `_`, starting with a
    /// letter.
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
