/// The delegate of an engine: it handles events and supplies records to send.
///
/// - Order: One call at a time. The engine waits for a call that waits.
/// - Threads: Calls come from a task of the engine, which is never cancelled while the engine
///   exists.
/// - Reentrancy: A call may use `state`. `fetchChanges` and `sendChanges` of the same engine fail
///   within it. A task that a call starts may use them, if the call does not wait for it.
/// - Source: Apple's `CKSyncEngineDelegate`.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
    /// Handles an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - syncEngine: The engine.
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

    /// Supplies the next changes of records to send.
    ///
    /// - Parameters:
    ///   - context: The reason and the scope of the send.
    ///   - syncEngine: The engine.
    /// - Returns: The batch; `nil` if there is nothing more for now.
    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch?

    /// Returns the options with which a fetch continues; called before each request.
    ///
    /// - Parameters:
    ///   - context: The reason of the fetch, and its options at the start.
    ///   - syncEngine: The engine.
    /// - Returns: The options; those at the start if the delegate has no such method.
    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
    /// Returns the options at the start of the fetch.
    ///
    /// - Parameters:
    ///   - context: The reason of the fetch, and its options at the start.
    ///   - syncEngine: The engine.
    /// - Returns: `context.options`.
    public func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext,
        syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        context.options
    }
}
