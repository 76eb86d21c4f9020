private import Synchronization

extension CKSyncEngine {
    /// What an engine knows, and what it is to send.
    ///
    /// May be used from anywhere, at any time: also by a delegate while it handles an event.
    public final class State: Sendable {
        private let content: Mutex<SyncState>
        private let changed: @Sendable () -> Void

        init(_ content: SyncState, changed: @escaping @Sendable () -> Void) {
            self.content = Mutex(content)
            self.changed = changed
        }

        /// Changes of records that wait to be sent, in order, one for each record.
        ///
        /// One that was taken into a batch is not among them. If that fails for a reason that passes, it is again.
        public var pendingRecordZoneChanges: [PendingRecordZoneChange] { self.snapshot.records.changes }

        /// Changes of zones that wait to be sent, in order.
        ///
        /// One that is on its way is not among them. If it fails for a reason that passes, it is again.
        public var pendingDatabaseChanges: [PendingDatabaseChange] { self.snapshot.zoneChanges.changes }

        /// Whether there are changes that only the app knows of.
        ///
        /// Set it, and the delegate is asked for a batch though nothing is pending. It is the app's to set it back.
        public var hasPendingUntrackedChanges: Bool {
            get { self.snapshot.hasUntrackedChanges }
            set {
                self.update { $0.setUntracked(newValue) }
                self.changed()
            }
        }

        /// Zones that have changed on the server and were not fetched yet.
        public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] { self.snapshot.zonesBehind }

        /// Adds changes of records, to be sent.
        ///
        /// A change that is pending already is not added twice; one that is on its way is pending again, and sent once more. Another change
        /// of the same record gives way: save and delete leaves the deletion.
        public func add(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
            self.update { $0.add(pendingRecordZoneChanges) }
            self.changed()
        }

        /// Takes changes of records out of those to be sent.
        ///
        /// What is on its way is not stopped, and not pending again when it fails.
        public func remove(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
            self.update { $0.remove(pendingRecordZoneChanges) }
            self.changed()
        }

        /// Adds changes of zones, to be sent before changes of records.
        public func add(pendingDatabaseChanges: [PendingDatabaseChange]) {
            self.update { $0.add(pendingDatabaseChanges) }
            self.changed()
        }

        /// Takes changes of zones out of those to be sent.
        ///
        /// What is on its way is not stopped, and not pending again when it fails.
        public func remove(pendingDatabaseChanges: [PendingDatabaseChange]) {
            self.update { $0.remove(pendingDatabaseChanges) }
            self.changed()
        }

        var snapshot: SyncState { self.content.withLock { $0 } }

        /// Changes the state without waking the engine, whose doing it is.
        func update(_ change: (inout SyncState) -> Void) { self.content.withLock { change(&$0) } }
    }
}
