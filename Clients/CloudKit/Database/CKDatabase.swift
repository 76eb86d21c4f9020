public import Foundation
private import RecordModel

/// One of a container's three databases, with its zones and records.
///
/// A method for one item throws that item's error. A method for several items returns a result for
/// each, and throws only if the whole request fails. Cancelling the task of an async method cancels
/// the request. Completion handlers run on a queue of their own, never on the caller's thread.
///
/// - Source: Apple's `CKDatabase`.
// SAFETY: its properties are constants, and refer to Sendable values; the queue may be used by
// several threads.
open class CKDatabase: NSObject, @unchecked Sendable {
    /// Which of the three databases.
    public enum Scope: Int, Sendable {
        /// The database that all users can read and signed-in users can write.
        case `public` = 1
        /// The signed-in user's own database.
        case `private` = 2
        /// The records that other users share with the signed-in user.
        case shared = 3
    }

    /// Which of the three databases this is.
    open var databaseScope: Scope { self.scope }

    let access: ServerAccess
    let settings: OperationSettings
    let group: CKOperationGroup?
    private let scope: Scope
    private let operations: OperationQueue

    init(
        access: ServerAccess,
        scope: Scope,
        settings: OperationSettings,
        group: CKOperationGroup?,
        operations: OperationQueue
    ) {
        self.access = access
        self.scope = scope
        self.settings = settings
        self.group = group
        self.operations = operations
        super.init()
    }

    /// Executes an operation on this database, as soon as its dependencies have finished.
    ///
    /// - Parameter operation: An operation that was not added before; it is held until it has
    ///   finished.
    /// - Source: Apple's `CKDatabase.add(_:)`.
    open func add(_ operation: CKDatabaseOperation) {
        operation.database = self
        self.operations.addOperation(operation)
    }

    var scopeModel: DatabaseScopeModel {
        switch self.scope {
        case .public: .public
        case .private: .private
        case .shared: .shared
        }
    }

    /// Returns the same database, with another configuration and group for its methods.
    func configured(_ configuration: CKOperation.Configuration?, _ group: CKOperationGroup?) -> CKDatabase {
        CKDatabase(
            access: self.access,
            scope: self.scope,
            settings: (configuration?.settings ?? OperationSettings()).over(self.settings),
            group: group ?? self.group,
            operations: self.operations
        )
    }
}
