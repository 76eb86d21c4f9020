extension CKSyncEngine {
    /// What an engine is made of.
    public struct Configuration: Sendable {
        /// The database: a private or a shared one.
        public var database: CKDatabase
        /// The state that the app kept of the last launch; `nil`: there was none.
        public var stateSerialization: State.Serialization?
        /// Who handles events.
        ///
        /// The configuration holds it, the engine does not: as an app usually holds its engine, both would never be let go of.
        public var delegate: any CKSyncEngineDelegate
        /// Whether the engine sends and fetches by itself: at the start, after changes of the state, after notifications, and again
        /// after errors that pass.
        public var automaticallySync = true
        /// The ID of the database's subscription that makes the server send notifications; `nil`: any that there is will do.
        ///
        /// If there is none, the engine saves one.
        public var subscriptionID: CKSubscription.ID?

        /// Creates a configuration of an engine that syncs automatically.
        public init(
            database: CKDatabase,
            stateSerialization: State.Serialization?,
            delegate: any CKSyncEngineDelegate
        ) {
            self.database = database
            self.stateSerialization = stateSerialization
            self.delegate = delegate
        }
    }
}

extension CKSyncEngine.Configuration: CustomStringConvertible {
    /// The configuration for people to read.
    public var description: String {
        let scope = self.database.databaseScope == .private ? "private" : "shared"
        return "database=\(scope) of \(self.database.access.identifier ?? "no container"), "
            + "automaticallySync=\(self.automaticallySync), subscriptionID=\(self.subscriptionID ?? "any"), "
            + "stateSerialization=\(self.stateSerialization == nil ? "none" : "kept")"
    }
}
