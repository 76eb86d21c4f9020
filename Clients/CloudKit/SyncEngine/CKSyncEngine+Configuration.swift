extension CKSyncEngine {
    /// The database, the state and the delegate of an engine.
    public struct Configuration: Sendable {
        /// The database: a private or a shared one.
        public var database: CKDatabase
        /// The state that the app stored in the last launch; `nil` if there was none.
        public var stateSerialization: State.Serialization?
        /// The delegate, which handles events.
        ///
        /// The configuration holds it, but the engine does not. Otherwise an app that holds its
        /// engine and is its delegate would never be released.
        public var delegate: any CKSyncEngineDelegate
        /// Whether the engine sends and fetches by itself: at the start, after changes of the
        /// state, after notifications, and after temporary errors.
        public var automaticallySync = true
        /// The ID of the subscription with which the server notifies the engine; `nil` if any
        /// subscription of the database will do.
        ///
        /// If there is none, the engine saves one.
        public var subscriptionID: CKSubscription.ID?

        /// Creates a configuration of an engine that syncs automatically.
        ///
        /// - Parameters:
        ///   - database: A private or a shared database.
        ///   - stateSerialization: The state that the app stored in the last launch; `nil` if there
        ///     was none.
        ///   - delegate: Handles events, and gives records to send.
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
    /// A description of the configuration for people.
    public var description: String {
        let scope = self.database.databaseScope == .private ? "private" : "shared"
        return "database=\(scope) of \(self.database.access.identifier ?? "no container"), "
            + "automaticallySync=\(self.automaticallySync), subscriptionID=\(self.subscriptionID ?? "any"), "
            + "stateSerialization=\(self.stateSerialization == nil ? "none" : "kept")"
    }
}
