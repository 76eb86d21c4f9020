extension CKSyncEngine {
    /// How to send changes.
    public struct SendChangesOptions: Sendable, CustomStringConvertible {
        /// Which changes to send.
        ///
        /// The engine holds changes of zones to it; changes of records are in the batches that the delegate makes.
        public var scope: Scope
        /// The group of the requests.
        public var operationGroup: CKOperationGroup

        /// Creates options; without a group they have one of their own.
        public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
            self.scope = scope
            self.operationGroup = operationGroup ?? CKOperationGroup()
        }

        /// The options for people to read.
        public var description: String { "scope=\(self.scope)" }
    }

    /// Why and how an engine sends changes.
    public struct SendChangesContext: Sendable, CustomStringConvertible {
        /// Why.
        public let reason: SyncReason
        /// How.
        public let options: SendChangesOptions

        /// The context for people to read.
        public var description: String { "reason=\(self.reason), \(self.options)" }
    }
}

extension CKSyncEngine.SendChangesOptions {
    /// Some of the changes that wait to be sent.
    public enum Scope: Equatable, Sendable, CustomStringConvertible {
        /// All.
        case all
        /// Those in all zones but these.
        case allExcluding([CKRecordZone.ID])
        /// Those in these zones.
        case zoneIDs([CKRecordZone.ID])
        /// Those of these records, and of the zones that these are in.
        case recordIDs([CKRecord.ID])

        /// Whether changes of a record are among them.
        public func contains(_ recordID: CKRecord.ID) -> Bool {
            switch self {
            case .all: true
            case .allExcluding(let ids): !ids.contains(recordID.zoneID)
            case .zoneIDs(let ids): ids.contains(recordID.zoneID)
            case .recordIDs(let ids): ids.contains(recordID)
            }
        }

        /// Whether a change is among them.
        public func contains(_ pendingChange: CKSyncEngine.PendingRecordZoneChange) -> Bool {
            self.contains(pendingChange.recordID)
        }

        /// Whether changes of a zone itself are among them.
        func contains(zone zoneID: CKRecordZone.ID) -> Bool {
            switch self {
            case .all: true
            case .allExcluding(let ids): !ids.contains(zoneID)
            case .zoneIDs(let ids): ids.contains(zoneID)
            case .recordIDs(let ids): ids.contains { $0.zoneID == zoneID }
            }
        }

        /// The scope for people to read.
        public var description: String {
            switch self {
            case .all: "all"
            case .allExcluding(let ids): "allExcluding[\(ids.map(\.label).joined(separator: ", "))]"
            case .zoneIDs(let ids): "zoneIDs[\(ids.map(\.label).joined(separator: ", "))]"
            case .recordIDs(let ids): "recordIDs[\(ids.map(\.label).joined(separator: ", "))]"
            }
        }
    }
}
