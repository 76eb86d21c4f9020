/// A share in a store.
package struct StoredShare: Hashable, Sendable {
    package var number: ShareNumber
    package var zone: ZoneKey
    /// The name of the share record.
    package var name: String
    /// Name of the record that is shared with its descendants; `nil` if the whole zone is.
    package var root: String?

    package init(number: ShareNumber, zone: ZoneKey, name: String, root: String?) {
        self.number = number
        self.zone = zone
        self.name = name
        self.root = root
    }
}

/// The number of a share: never used again for another.
package struct ShareNumber: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A record that came under a share, or left it.
package struct MembershipChange: Hashable, Sendable {
    package var position: Int64
    package var share: ShareNumber
    package var isArrival: Bool
    /// The number of the record.
    package var record: Int64
    package var name: String
    package var recordType: String

    package init(
        position: Int64,
        share: ShareNumber,
        isArrival: Bool,
        record: Int64,
        name: String,
        recordType: String
    ) {
        self.position = position
        self.share = share
        self.isArrival = isArrival
        self.record = record
        self.name = name
        self.recordType = recordType
    }
}
