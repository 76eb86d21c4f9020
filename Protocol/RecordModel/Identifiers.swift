/// One of the three databases of a user.
package enum DatabaseScope: UInt8, Hashable, Sendable {
    case `public` = 1
    case `private` = 2
    case shared = 3
}

/// A container's data exists once per environment.
///
/// The two are fully separate.
package enum Environment: UInt8, Hashable, Sendable, CaseIterable {
    case development = 1
    case production = 2
}

/// Identifies a zone within a database.
package struct ZoneID: Hashable, Sendable {
    /// The zone that every database has from its start.
    package static let defaultZoneName = "_defaultZone"
    package static let `default` = ZoneID(zoneName: defaultZoneName)

    package var zoneName: String
    /// User record name of the owner; empty for the requesting user.
    package var ownerName: String

    package init(zoneName: String, ownerName: String = "") {
        self.zoneName = zoneName
        self.ownerName = ownerName
    }

    package var isDefault: Bool { self.zoneName == Self.defaultZoneName }
}

/// Identifies a record within a database.
///
/// A name is unique in a zone, whatever the record type.
package struct RecordID: Hashable, Sendable {
    package var zone: ZoneID
    package var recordName: String

    package init(zone: ZoneID, recordName: String) {
        self.zone = zone
        self.recordName = recordName
    }

    package static func == (left: RecordID, right: RecordID) -> Bool {
        ExactName.areSame(left.recordName, right.recordName) && left.zone == right.zone
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.zone)
        hasher.combine(ExactName(self.recordName))
    }
}

/// The capabilities of a zone.
///
/// The bits are CloudKit's.
package struct ZoneCapabilities: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32
    package static let fetchChanges = ZoneCapabilities(rawValue: 1 << 0)
    package static let atomic = ZoneCapabilities(rawValue: 1 << 1)
    package static let sharing = ZoneCapabilities(rawValue: 1 << 2)
    package static let zoneWideSharing = ZoneCapabilities(rawValue: 1 << 3)

    package init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Sixteen bytes that make a mutating request execute once, however often it is sent.
///
/// It is a UUID of version 7: the first 48 bits are milliseconds since 1970, so that consecutive
/// IDs are adjacent on disk. The server relies on this only for locality and expiry.
package struct RequestID: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes a version 7 ID from a clock and a generator.
    package init(milliseconds: Int64, using generator: inout some RandomNumberGenerator) {
        let random = generator.next()
        self.high = UInt64(truncatingIfNeeded: milliseconds) << 16 | 0x7000 | random & 0x0FFF
        self.low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Reads 16 bytes in network order.
    ///
    /// Fails for any other number of bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        for (offset, byte) in bytes.enumerated() {
            if offset < 8 {
                words.0 = words.0 << 8 | UInt64(byte)
            } else {
                words.1 = words.1 << 8 | UInt64(byte)
            }
        }
        self.init(high: words.0, low: words.1)
    }

    /// The 16 bytes in network order.
    package var bytes: [UInt8] {
        // SAFETY: the array copies before the call returns.
        withUnsafeBytes(of: (self.high.bigEndian, self.low.bigEndian)) { Array($0) }
    }

    /// Milliseconds since 1970, by the clock of the client that made the ID.
    package var milliseconds: Int64 { Int64(self.high >> 16) }
}
