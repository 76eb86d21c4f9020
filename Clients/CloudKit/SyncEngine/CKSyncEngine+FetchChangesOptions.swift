extension CKSyncEngine {
    /// The scope and the order of a fetch.
    public struct FetchChangesOptions: Sendable, CustomStringConvertible {
        /// The zones to fetch records of.
        ///
        /// The list of zones and of their changes is always fetched.
        public var scope: Scope
        /// The group of the requests.
        public var operationGroup: CKOperationGroup
        /// Zones to fetch first, in this order: no other zone begins before these are finished.
        public var prioritizedZoneIDs: [CKRecordZone.ID] = []

        /// Creates options.
        ///
        /// - Parameters:
        ///   - scope: The zones or changes that are meant.
        ///   - operationGroup: The group of the requests; `nil` if they get one of their own.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        /// A description of the options for people.
        public var description: String {
            "scope=\(self.scope), prioritized=[\(self.prioritizedZoneIDs.map(\.label).joined(separator: ", "))]"
        }
    }

    /// The reason and the options of a fetch.
    public struct FetchChangesContext: Sendable, CustomStringConvertible {
        /// The reason.
        public let reason: SyncReason
        /// The options.
        public let options: FetchChangesOptions

        /// A description of the context for people.
        public var description: String { "reason=\(self.reason), \(self.options)" }
    }

    /// Why an engine fetches or sends.
    public enum SyncReason: Sendable, CustomStringConvertible {
        /// The engine decided that it was time.
        case scheduled
        /// The app called `fetchChanges` or `sendChanges`.
        case manual

        /// A description of the reason for people.
        public var description: String {
            switch self {
            case .scheduled: "scheduled"
            case .manual: "manual"
            }
        }
    }
}

extension CKSyncEngine.FetchChangesOptions {
    /// Some of a database's zones.
    public enum Scope: Equatable, Sendable, CustomStringConvertible {
        /// All zones.
        case all
        /// All zones but these.
        case allExcluding([CKRecordZone.ID])
        /// These zones.
        case zoneIDs([CKRecordZone.ID])

        /// Returns whether the scope has a zone.
        public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
            switch self {
            case .all: true
            case .allExcluding(let ids): !ids.contains(zoneID)
            case .zoneIDs(let ids): ids.contains(zoneID)
            }
        }

        /// A description of the scope for people.
        public var description: String {
            switch self {
            case .all: "all"
            case .allExcluding(let ids): "allExcluding[\(ids.map(\.label).joined(separator: ", "))]"
            case .zoneIDs(let ids): "zoneIDs[\(ids.map(\.label).joined(separator: ", "))]"
            }
        }
    }
}
