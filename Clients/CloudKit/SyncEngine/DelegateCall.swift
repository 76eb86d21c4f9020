/// A call of a delegate in progress, which must not be made to wait for itself.
final class DelegateCall: Sendable {
    @TaskLocal private static var current: DelegateCall?

    private let engine: ObjectIdentifier
    private let task: Int

    private init(engine: CKSyncEngine, task: Int) {
        self.engine = ObjectIdentifier(engine)
        self.task = task
    }

    /// Calls a delegate of an engine.
    static func run<Value>(
        of engine: CKSyncEngine,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async -> Value
    ) async -> Value {
        await self.$current.withValue(DelegateCall(engine: engine, task: self.currentTask)) { await body() }
    }

    /// Checks that the caller is not a delegate call of the engine, in its own task.
    ///
    /// A task that the delegate has started inherits the call, and may wait for the engine.
    static func check(_ engine: CKSyncEngine) throws(CKError) {
        guard let current = self.current, current.engine == ObjectIdentifier(engine) else { return }
        guard current.task != self.currentTask else { throw .calledByDelegate }
    }

    private static var currentTask: Int {
        // SAFETY: only a number is taken from the task, within the call.
        withUnsafeCurrentTask { $0?.hashValue ?? 0 }
    }
}
