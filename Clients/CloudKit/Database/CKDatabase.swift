public import Foundation
private import RecordModel

/// One of a container's three databases: zones, and records in them.
///
/// The methods for one item report its own error; those for several report one result for each, and throw only when
/// the request as a whole fails. Cancelling the task of an async method cancels the request. Handlers run on a queue of their own, never
/// on the caller's thread.
// SAFETY: its properties are constants, and what they refer to is Sendable or, for the queue, safe to be used by
// several threads.
open class CKDatabase: NSObject, @unchecked Sendable {
    /// Which of the three databases.
    public enum Scope: Int, Sendable {
        /// Everybody can read it, signed-in users can write.
        case `public` = 1
        /// The signed-in user's own.
        case `private` = 2
        /// What others share with the signed-in user.
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

    /// The same database, with another configuration and group for its methods.
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
