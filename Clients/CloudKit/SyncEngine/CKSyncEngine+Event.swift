extension CKSyncEngine {
    /// An event that an engine reports to its delegate.
    ///
    /// - Order: One at a time; the next event comes when the delegate has handled the last.
    ///
    ///   Sending: `willSendChanges`; `sentDatabaseChanges` for each batch of zones;
    ///   `sentRecordZoneChanges` for each batch of records; `didSendChanges`.
    ///
    ///   Fetching: `willFetchChanges`; `fetchedDatabaseChanges` for each page with changes; for
    ///   each zone `willFetchRecordZoneChanges`, `fetchedRecordZoneChanges` for each page with
    ///   changes, and `didFetchRecordZoneChanges`; `didFetchChanges`. Up to four zones are fetched
    ///   at once, and their events alternate then. What begins also ends, with or without an error.
    ///
    ///   `stateUpdate` comes in between, whenever the state differs from the last one that was
    ///   reported.
    public enum Event: Sendable {
        /// The engine's state changed; the app stores it.
        case stateUpdate(StateUpdate)
        /// A user signed in or out.
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
        /// The engine has fetched the changes of a zone, or has given up.
        case didFetchRecordZoneChanges(DidFetchRecordZoneChanges)
        /// The engine has fetched changes, or has given up.
        case didFetchChanges(DidFetchChanges)
        /// The engine begins to send.
        case willSendChanges(WillSendChanges)
        /// The engine has sent changes, or has given up.
        case didSendChanges(DidSendChanges)
    }
}

extension CKSyncEngine.Event {
    /// The engine's state changed.
    public struct StateUpdate: Sendable {
        /// The state, for `Configuration.stateSerialization` at the next launch.
        ///
        /// It covers all events that were reported before it: store it together with their effects.
        public let stateSerialization: CKSyncEngine.State.Serialization
    }

    /// A user signed in or out.
    ///
    /// The engine drops its state and all pending changes. Changes that the delegate adds while it
    /// handles the event belong to the next user. There is one exception: changes that were added
    /// before the very first `signIn` of a state are sent after it, because they can belong to no
    /// other user.
    public struct AccountChange: Sendable {
        /// The change of the account.
        public enum ChangeType: Equatable, Sendable {
            /// A user is signed in, and none was when the engine last checked.
            case signIn(currentUser: CKRecord.ID)
            /// The server does not accept the token, or no longer, or there is none.
            case signOut(previousUser: CKRecord.ID)
            /// Another user is signed in than when the engine last looked.
            case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)
        }

        /// The change of the account.
        public let changeType: ChangeType
    }

    /// The engine begins to fetch.
    public struct WillFetchChanges: Sendable {
        /// The reason and the options of the fetch.
        public let context: CKSyncEngine.FetchChangesContext
    }

    /// The engine has fetched changes, or has given up.
    public struct DidFetchChanges: Sendable {
        /// The reason and the options of the fetch.
        public let context: CKSyncEngine.FetchChangesContext
        /// Why something was not fetched; `nil` if everything was.
        package let error: CKError?
    }

    /// The engine begins to send.
    public struct WillSendChanges: Sendable {
        /// The reason and the options of the send.
        public let context: CKSyncEngine.SendChangesContext
    }

    /// The engine has sent changes, or has given up.
    public struct DidSendChanges: Sendable {
        /// The reason and the options of the send.
        public let context: CKSyncEngine.SendChangesContext
    }
}
