/// An app, as an engine sees it: it handles events, and gives what is to be sent.
///
/// - Order: One call at a time. A call that waits makes the engine wait.
/// - Reentrancy: Within a call, `state` may be used; `fetchChanges` and `sendChanges` of the same engine fail. A task that is started
///   within a call may use them, as long as the call does not wait for it.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
    /// Handles an event.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - syncEngine: The engine.
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

    /// Gives the next changes of records to be sent.
    ///
    /// - Parameters:
    ///   - context: Why the engine sends, and what.
    ///   - syncEngine: The engine.
    /// - Returns: The batch; `nil`: there is nothing more for now.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch?

    /// Says how to go on fetching; called before each request.
    ///
    /// - Parameters:
    ///   - context: Why the engine fetches, and how it was to begin with.
    ///   - syncEngine: The engine.
    /// - Returns: How; unless it is written, as it was to begin with.
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
    /// The options of the context.
    public func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        context.options
    }
}
