package import RecordModel
package import StorageContract

/// Something that a verification found wrong in a store.
package struct StoreFinding: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// Pages, or rows, that the storage cannot give.
        case rowsUnreadable
        case recordUnreadable
        case changeMissing
        case recordAndTombstone, tombstonePosition
        case indexEntryMissing, indexEntryStray
        case referenceMissing, referenceStray, referenceTargetMissing
        case zoneCounters, zonePosition
        case databaseCounters, databasePosition
        case shareRecordMissing, shareRootMissing, shareMembership
        case mirrorMissing, mirrorStray
        case historyGap, historyUnreadable
        case assetMissing, assetUseMissing, assetUseStray, assetGrace
        /// A file that is missing, or has other bytes.
        case assetFile
    }

    /// A repair without any loss.
    package enum Repair: Hashable, Sendable {
        /// Build an index anew, by its number.
        case index(Int64)
        /// Add what was counted beyond the row, and take the position at least.
        case zone(ZoneKey, adding: StoredAmount, position: Int64)
        case database(DatabaseID, adding: StoredAmount, position: Int64)
        /// Bring a reader's shared database up to date with a zone.
        case mirror(reader: DatabaseID, zone: ZoneKey)
        /// Write the row of an asset again, as records name it.
        case assetGrace(AssetNumber)
    }

    /// Where it is, by names; `nil` where that does not apply or is not known.
    package struct Place: Hashable, Sendable {
        package var container: String?
        package var environment: Environment?
        package var scope: DatabaseScope?
        /// The user record name of the database's owner.
        package var owner: String?
        package var zone: String?
        package var record: String?

        package init() {}
    }

    package var kind: Kind
    package var place: Place
    /// Numbers or names that say more: an index, a target, what was counted.
    package var detail: String
    package var repair: Repair?

    package init(_ kind: Kind, at place: Place, _ detail: String = "", repair: Repair? = nil) {
        self.kind = kind
        self.place = place
        self.detail = detail
        self.repair = repair
    }
}

/// The result of a verification.
package struct StoreVerified: Hashable, Sendable {
    package var databases = 0
    package var zones = 0
    package var records: Int64 = 0
    /// Encoded bodies.
    package var recordBytes: Int64 = 0
    /// In the order in which they were found, each once; at most `findingsMax`.
    package private(set) var findings: [StoreFinding] = []
    /// All, also beyond `findingsMax`.
    package private(set) var findingsCount = 0
    /// Zones that changed all the time, so that their counters were not compared.
    package var uncounted: [StoreFinding.Place] = []
    private var known: Set<StoreFinding> = []

    /// A damaged store may have a finding for each row.
    package static let findingsMax = 1_000

    package init() {}

    package mutating func add(_ findings: [StoreFinding]) {
        for finding in findings where self.known.count < 100_000 && self.known.insert(finding).inserted {
            self.findingsCount += 1
            if self.findings.count < Self.findingsMax { self.findings.append(finding) }
        }
    }
}
