import CloudKit

/// A subscription of a listener.
enum WantedSubscription: Hashable, Sendable {
    case database
    case zone(CKRecordZone.ID)
    case query(type: String, format: String, zone: CKRecordZone.ID?, scope: CKDatabase.Scope)

    var scope: CKDatabase.Scope {
        switch self {
        case .database, .zone: .private
        case .query(_, _, _, let scope): scope
        }
    }

    var isPublic: Bool { self.scope == .public }

    /// The prefix of their IDs.
    static let idPrefix = "tidemark-listen-"

    /// The ID, which is the same for the same options: a listener that starts again has one
    /// subscription and not two.
    var id: CKSubscription.ID {
        switch self {
        case .database: Self.idPrefix + "database"
        case .zone(let zone): Self.idPrefix + "zone-\(Self.hash(zone.zoneName))"
        case .query(let type, let format, let zone, _):
            Self.idPrefix
                + "query-\(Self.hash([type, format, zone?.zoneName ?? ""].joined(separator: "\n")))"
        }
    }

    /// The subscription for the server.
    var subscription: CKSubscription {
        switch self {
        case .database: return CKDatabaseSubscription(subscriptionID: self.id)
        case .zone(let zone): return CKRecordZoneSubscription(zoneID: zone, subscriptionID: self.id)
        case .query(let type, let format, let zone, _):
            let query = CKQuerySubscription(
                recordType: type,
                predicate: NSPredicate(format: format),
                subscriptionID: self.id,
                options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
            )
            query.zoneID = zone
            return query
        }
    }

    /// A text for people.
    var text: String {
        switch self {
        case .database: "the private database"
        case .zone(let zone): "zone \(zone.zoneName)"
        case .query(let type, let format, let zone, let scope):
            "\(type) where \(format) in \(zone.map { "zone \($0.zoneName)" } ?? "all zones") (\(scope.text))"
        }
    }

    /// Returns a hash, because names of zones may be too long for an ID.
    ///
    /// - Source: FNV-1a, 64 bits.
    private static func hash(_ text: String) -> String {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}

extension CKDatabase.Scope {
    /// A text for people, and for the state file.
    var text: String {
        switch self {
        case .public: "public"
        case .private: "private"
        case .shared: "shared"
        @unknown default: "unknown"
        }
    }
}
