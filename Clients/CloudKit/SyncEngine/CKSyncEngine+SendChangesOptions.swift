extension CKSyncEngine {
    /// The scope of a send.
    public struct SendChangesOptions: Sendable, CustomStringConvertible {
        /// The changes that are sent.
        ///
        /// The engine applies it to changes of zones. The delegate applies it to its batches of
        /// records.
        public var scope: Scope
        /// The group of the requests.
        public var operationGroup: CKOperationGroup

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
        public var description: String { "scope=\(self.scope)" }
    }

    /// The reason and the options of a send.
    public struct SendChangesContext: Sendable, CustomStringConvertible {
        /// The reason.
        public let reason: SyncReason
        /// The options.
        public let options: SendChangesOptions

        /// A description of the context for people.
        public var description: String { "reason=\(self.reason), \(self.options)" }
    }
}

extension CKSyncEngine.SendChangesOptions {
    /// Some of the pending changes.
    public enum Scope: Equatable, Sendable, CustomStringConvertible {
        /// All changes.
        case all
        /// The changes in all zones but these.
        case allExcluding([CKRecordZone.ID])
        /// The changes in these zones.
        case zoneIDs([CKRecordZone.ID])
        /// The changes of these records and of their zones.
        case recordIDs([CKRecord.ID])

        /// Returns whether the scope has changes of a record.
        public func contains(_ recordID: CKRecord.ID) -> Bool {
            switch self {
            case .all: true
            case .allExcluding(let ids): !ids.contains(recordID.zoneID)
            case .zoneIDs(let ids): ids.contains(recordID.zoneID)
            case .recordIDs(let ids): ids.contains(recordID)
            }
        }

        /// Returns whether the scope has a change.
        public func contains(_ pendingChange: CKSyncEngine.PendingRecordZoneChange) -> Bool {
            self.contains(pendingChange.recordID)
        }

        /// Returns whether the scope has changes of a zone itself.
        func contains(zone zoneID: CKRecordZone.ID) -> Bool {
            switch self {
            case .all: true
            case .allExcluding(let ids): !ids.contains(zoneID)
            case .zoneIDs(let ids): ids.contains(zoneID)
            case .recordIDs(let ids): ids.contains { $0.zoneID == zoneID }
            }
        }

        /// A description of the scope for people.
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
