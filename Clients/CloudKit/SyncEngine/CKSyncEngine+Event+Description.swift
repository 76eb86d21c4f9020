// Descriptions of events for people and logs: names and codes, without contents.
extension CKSyncEngine.Event: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String {
        switch self {
        case .stateUpdate(let event): event.description
        case .accountChange(let event): event.description
        case .fetchedDatabaseChanges(let event): event.description
        case .fetchedRecordZoneChanges(let event): event.description
        case .sentDatabaseChanges(let event): event.description
        case .sentRecordZoneChanges(let event): event.description
        case .willFetchChanges(let event): event.description
        case .willFetchRecordZoneChanges(let event): event.description
        case .didFetchRecordZoneChanges(let event): event.description
        case .didFetchChanges(let event): event.description
        case .willSendChanges(let event): event.description
        case .didSendChanges(let event): event.description
        }
    }
}

private func list(_ names: some Sequence<String>) -> String { "[\(names.joined(separator: ", "))]" }

extension CKSyncEngine.Event.StateUpdate: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String { "stateUpdate" }
}

extension CKSyncEngine.Event.AccountChange: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String {
        switch self.changeType {
        case .signIn(let user): "accountChange(signIn: \(user.recordName))"
        case .signOut(let user): "accountChange(signOut: \(user.recordName))"
        case .switchAccounts(let previous, let current):
            "accountChange(switchAccounts: \(previous.recordName), \(current.recordName))"
        }
    }
}

extension CKSyncEngine.Event.FetchedDatabaseChanges: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String {
        "fetchedDatabaseChanges(modifications: \(list(self.modifications.map(\.zoneID.label))), "
            + "deletions: \(list(self.deletions.map(\.zoneID.label))))"
    }
}

extension CKSyncEngine.Event.FetchedRecordZoneChanges: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String {
        "fetchedRecordZoneChanges(modifications: \(list(self.modifications.map(\.record.recordID.label))), "
            + "deletions: \(list(self.deletions.map(\.recordID.label))))"
    }
}

extension CKSyncEngine.Event.SentDatabaseChanges: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String {
        let failedSaves = self.failedZoneSaves.map(\.description)
        let failedDeletes = self.failedZoneDeletes.map { "\($0.key.label): \($0.value.code)" }.sorted()
        return "sentDatabaseChanges(saved: \(list(self.savedZones.map(\.zoneID.label))), "
            + "failedSaves: \(list(failedSaves)), deleted: \(list(self.deletedZoneIDs.map(\.label))), "
            + "failedDeletes: \(list(failedDeletes)))"
    }
}

extension CKSyncEngine.Event.SentRecordZoneChanges: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String {
        let failedSaves = self.failedRecordSaves.map(\.description)
        let failedDeletes = self.failedRecordDeletes.map { "\($0.key.label): \($0.value.code)" }.sorted()
        return "sentRecordZoneChanges(saved: \(list(self.savedRecords.map(\.recordID.label))), "
            + "failedSaves: \(list(failedSaves)), deleted: \(list(self.deletedRecordIDs.map(\.label))), "
            + "failedDeletes: \(list(failedDeletes)))"
    }
}

extension CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave: CustomStringConvertible {
    /// A description of the failure for people.
    public var description: String { "\(self.zone.zoneID.label): \(self.error.code)" }
}

extension CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave: CustomStringConvertible {
    /// A description of the failure for people.
    public var description: String { "\(self.record.recordID.label): \(self.error.code)" }
}

extension CKSyncEngine.Event.WillFetchChanges: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String { "willFetchChanges(\(self.context))" }
}

extension CKSyncEngine.Event.DidFetchChanges: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String { "didFetchChanges(\(self.context))" }
}

extension CKSyncEngine.Event.WillFetchRecordZoneChanges: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String {
        "willFetchRecordZoneChanges(\(self.zoneID.label)\(self.startsAnew ? ", anew" : ""))"
    }
}

extension CKSyncEngine.Event.DidFetchRecordZoneChanges: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String {
        "didFetchRecordZoneChanges(\(self.zoneID.label)\(self.error.map { ", \($0.code)" } ?? ""))"
    }
}

extension CKSyncEngine.Event.WillSendChanges: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String { "willSendChanges(\(self.context))" }
}

extension CKSyncEngine.Event.DidSendChanges: CustomStringConvertible {
    /// A description of the event for people.
    public var description: String { "didSendChanges(\(self.context))" }
}
