extension CKSyncEngine {
    /// What an engine tells its delegate.
    ///
    /// - Order: One at a time; the next comes when the last was handled.
    ///
    ///   Sending: `willSendChanges`, a `sentDatabaseChanges` for each batch of zones, a `sentRecordZoneChanges` for each batch of records,
    ///   `didSendChanges`. Fetching: `willFetchChanges`, a `fetchedDatabaseChanges` for each page with changes, then for each
    ///   zone `willFetchRecordZoneChanges`, a `fetchedRecordZoneChanges` for each page with changes, `didFetchRecordZoneChanges`; last
    ///   `didFetchChanges`. Up to four zones are fetched at once, and their events alternate then. What begins ends, with or without an error.
    ///
    ///   `stateUpdate` comes between, whenever the state is another one than the app was last told.
    public enum Event: Sendable {
        /// The engine's state changed: to be kept.
        case stateUpdate(StateUpdate)
        /// Somebody signed in or out.
        case accountChange(AccountChange)
        /// Zones were created, changed or deleted.
        case fetchedDatabaseChanges(FetchedDatabaseChanges)
        /// Records were saved or deleted.
        case fetchedRecordZoneChanges(FetchedRecordZoneChanges)
        /// A batch of changes of zones was sent.
        case sentDatabaseChanges(SentDatabaseChanges)
        /// A batch of changes of records was sent.
        case sentRecordZoneChanges(SentRecordZoneChanges)
        /// The engine begins to fetch.
        case willFetchChanges(WillFetchChanges)
        /// The engine begins to fetch changes of a zone.
        case willFetchRecordZoneChanges(WillFetchRecordZoneChanges)
        /// The engine has fetched the changes of a zone, or given up.
        case didFetchRecordZoneChanges(DidFetchRecordZoneChanges)
        /// The engine has fetched, or given up.
        case didFetchChanges(DidFetchChanges)
        /// The engine begins to send.
        case willSendChanges(WillSendChanges)
        /// The engine has sent, or given up.
        case didSendChanges(DidSendChanges)
    }
}

extension CKSyncEngine.Event {
    /// The engine's state changed.
    public struct StateUpdate: Sendable {
        /// The state, for `Configuration.stateSerialization` at the next launch.
        ///
        /// Everything that was told before is taken care of by it: keep it together with what was made of that.
        public let stateSerialization: CKSyncEngine.State.Serialization
    }

    /// Somebody signed in or out.
    ///
    /// The engine forgets all it knows, what waits to be sent included; what the delegate adds while it handles the event is the next user's.
    /// Only what was added before the very first `signIn` of an engine's state is sent after it: there was no user before whose it could be.
    public struct AccountChange: Sendable {
        /// What happened.
        public enum ChangeType: Equatable, Sendable {
            /// Somebody is signed in, and nobody was when the engine last looked.
            case signIn(currentUser: CKRecord.ID)
            /// The server does not take the token (any more), or there is none.
            case signOut(previousUser: CKRecord.ID)
            /// Somebody else is signed in than when the engine last looked.
            case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)
        }

        /// What happened.
        public let changeType: ChangeType
    }

    /// The engine begins to fetch.
    public struct WillFetchChanges: Sendable {
        /// Why and how.
        public let context: CKSyncEngine.FetchChangesContext
    }

    /// The engine has fetched, or given up.
    public struct DidFetchChanges: Sendable {
        /// Why and how.
        public let context: CKSyncEngine.FetchChangesContext
    }

    /// The engine begins to send.
    public struct WillSendChanges: Sendable {
        /// Why and how.
        public let context: CKSyncEngine.SendChangesContext
    }

    /// The engine has sent, or given up.
    public struct DidSendChanges: Sendable {
        /// Why and how.
        public let context: CKSyncEngine.SendChangesContext
    }
}
