extension CKSyncEngine {
    /// How to fetch changes.
    public struct FetchChangesOptions: Sendable, CustomStringConvertible {
        /// Of which zones to fetch the changes of records.
        ///
        /// Which zones there are and have changed is always fetched.
        public var scope: Scope
        /// The group of the requests.
        public var operationGroup: CKOperationGroup
        /// Zones to fetch first, in this order: no other zone is begun before these are done.
        public var prioritizedZoneIDs: [CKRecordZone.ID] = []

        /// Creates options; without a group they have one of their own.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        /// The options for people to read.
        public var description: String {
            "scope=\(self.scope), prioritized=[\(self.prioritizedZoneIDs.map(\.label).joined(separator: ", "))]"
        }
    }

    /// Why and how an engine fetches changes.
    public struct FetchChangesContext: Sendable, CustomStringConvertible {
        /// Why.
        public let reason: SyncReason
        /// How.
        public let options: FetchChangesOptions

        /// The context for people to read.
        public var description: String { "reason=\(self.reason), \(self.options)" }
    }

    /// Why an engine fetches or sends.
    public enum SyncReason: Sendable {
        /// The engine found it was time.
        case scheduled
        /// The app called `fetchChanges` or `sendChanges`.
        case manual
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

        /// Whether a zone is one of them.
        public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
            switch self {
            case .all: true
            case .allExcluding(let ids): !ids.contains(zoneID)
            case .zoneIDs(let ids): ids.contains(zoneID)
            }
        }

        /// The scope for people to read.
        public var description: String {
            switch self {
            case .all: "all"
            case .allExcluding(let ids): "allExcluding[\(ids.map(\.label).joined(separator: ", "))]"
            case .zoneIDs(let ids): "zoneIDs[\(ids.map(\.label).joined(separator: ", "))]"
            }
        }
    }
}
