import EngineThreads
import StorageContract

/// The connection on which the directory and the command line read declared tables, one at a time.
///
/// SAFETY: the session is used only while the condition is locked.
final class TableSession: @unchecked Sendable {
    private let session: ReadSession
    private let condition = ThreadCondition()

    init(_ session: ReadSession) { self.session = session }

    func read<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value {
        try self.condition.withLock {
            defer { self.session.rest() }
            return try self.session.read({ try read($0) }, failure: { $0 as any Error })
        }
    }
}
