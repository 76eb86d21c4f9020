private import Synchronization

extension CKSyncEngine {
    /// The progress of an engine, and its pending changes.
    ///
    /// It may be used from any thread at any time, also by a delegate that handles an event.
    public final class State: Sendable {
        private let content: Mutex<SyncState>
        private let changed: @Sendable () -> Void

        init(_ content: SyncState, changed: @escaping @Sendable () -> Void) {
            self.content = Mutex(content)
            self.changed = changed
        }

        /// Pending changes of records, in order, one for each record.
        ///
        /// A change that was taken into a batch is not among them. It is again if it fails
        /// temporarily.
        public var pendingRecordZoneChanges: [PendingRecordZoneChange] { self.snapshot.records.changes }

        /// Pending changes of zones, in order.
        ///
        /// A change in flight is not among them. It is again if it fails temporarily.
        public var pendingDatabaseChanges: [PendingDatabaseChange] { self.snapshot.zoneChanges.changes }

        /// Whether there are changes that only the app knows.
        ///
        /// If it is `true`, the engine asks the delegate for a batch even if nothing is pending.
        /// The app sets it back.
        public var hasPendingUntrackedChanges: Bool {
            get { self.snapshot.hasUntrackedChanges }
            set {
                self.update { $0.setUntracked(newValue) }
                self.changed()
            }
        }

        /// Zones with changes on the server that were not fetched yet.
        public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] { self.snapshot.zonesBehind }

        /// Adds changes of records to the pending ones.
        ///
        /// A change that is pending already is not added twice. A change in flight becomes pending
        /// again and is sent once more. It replaces another change of the same record: of a save
        /// and a deletion, the later one is sent.
        ///
        /// - Parameter pendingRecordZoneChanges: The changes, in the order in which they are to be
        ///   sent.
        public func add(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
            self.update { $0.add(pendingRecordZoneChanges) }
            self.changed()
        }

        /// Removes changes of records from the pending ones.
        ///
        /// A change in flight is not stopped, but does not become pending again if it fails.
        ///
        /// - Parameter pendingRecordZoneChanges: The changes, pending or in flight; another change
        ///   of the same record stays.
        public func remove(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
            self.update { $0.remove(pendingRecordZoneChanges) }
            self.changed()
        }

        /// Adds changes of zones, which are sent before changes of records.
        ///
        /// - Parameter pendingDatabaseChanges: The changes, in the order in which they are to be
        ///   sent.
        public func add(pendingDatabaseChanges: [PendingDatabaseChange]) {
            self.update { $0.add(pendingDatabaseChanges) }
            self.changed()
        }

        /// Removes changes of zones from the pending ones.
        ///
        /// A change in flight is not stopped, but does not become pending again if it fails.
        ///
        /// - Parameter pendingDatabaseChanges: The changes, pending or in flight.
        public func remove(pendingDatabaseChanges: [PendingDatabaseChange]) {
            self.update { $0.remove(pendingDatabaseChanges) }
            self.changed()
        }

        var snapshot: SyncState { self.content.withLock { $0 } }

        /// Changes the state without waking the engine, which makes the change.
        func update(_ change: (inout SyncState) -> Void) { self.content.withLock { change(&$0) } }
    }
}
