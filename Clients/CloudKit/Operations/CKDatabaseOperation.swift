import Foundation
internal import WireProtocol

/// An operation on one database.
///
/// - Source: Apple's `CKDatabaseOperation`.
// SAFETY: see `CKOperation`.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    /// The database; `nil` if the private database of `configuration.container`, or else of the
    /// default container, is used.
    open var database: CKDatabase?

    /// Makes an operation in which nothing is set.
    public override init() { super.init() }

    /// The database that the operation works on.
    var target: CKDatabase {
        if let database = self.database { return database }
        let container = self.effectiveSettings.container ?? CKContainer.default()
        return container.privateCloudDatabase
    }

    override var effectiveSettings: OperationSettings {
        super.effectiveSettings.over(self.database?.settings)
    }

    /// Makes work of several requests, and finishes the operation at its end.
    ///
    /// For `main`; a second call does nothing.
    ///
    /// - Parameter make: Makes the work on the database; it calls `concludeHere` on the callback
    ///   queue when it has ended.
    /// - Returns: The work, to be started; `nil` if there is some already.
    func run<W: Work>(_ make: (CKDatabase) -> W) -> W? {
        guard self.claim() else { return nil }
        let work = make(self.target)
        self.commit(to: work)
        return work
    }

    /// Sends a request, and finishes the operation when the request has ended.
    ///
    /// For `main`; a second call does nothing.
    ///
    /// - Parameters:
    ///   - make: Makes the request, or throws.
    ///   - progress: Called on the callback queue with the moved part of a record's files, below 1.
    ///   - results: Called on the callback queue with each item's result, in order of arrival.
    ///   - ended: Called on the callback queue with the end of the response, unless the request
    ///     failed as a whole.
    func send<Request: BatchRequest>(
        _ make: (DatabaseScopeModel) throws(CKError) -> Request,
        progress: (@Sendable (CKRecord.ID, Double) -> Void)? = nil,
        results: @escaping @Sendable (Request.ItemResult) -> Void,
        ended: @escaping @Sendable (End) -> Void = { _ in }
    ) {
        let database = self.target
        let scope = database.scopeModel
        self.send(
            to: database.access,
            self.effectiveSettings,
            { () throws(CKError) in try make(scope) },
            progress: progress,
            results: results,
            ended: ended
        )
    }
}
