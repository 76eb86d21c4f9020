internal import Foundation
internal import WireProtocol

extension CKOperation {
    /// Sends a request, and finishes the operation when the request has ended.
    ///
    /// For `main`; a second call does nothing.
    ///
    /// - Parameters:
    ///   - access: The connection to the server.
    ///   - settings: The settings of the operation.
    ///   - make: Makes the request, or throws.
    ///   - progress: Called on the callback queue with the moved part of a record's files, below 1.
    ///   - results: Called on the callback queue with each item's result, in order of arrival.
    ///   - ended: Called on the callback queue with the end of the response, unless the request
    ///     failed as a whole.
    func send<Request: BatchRequest>(
        to access: ServerAccess,
        _ settings: OperationSettings,
        _ make: () throws(CKError) -> Request,
        progress: (@Sendable (CKRecord.ID, Double) -> Void)? = nil,
        results: @escaping @Sendable (Request.ItemResult) -> Void,
        ended: @escaping @Sendable (End) -> Void = { _ in }
    ) {
        guard self.claim() else { return }
        let request: Request
        do {
            request = try make()
        } catch {
            self.conclude(with: error)
            return
        }
        let callbacks = RequestCall<Request>.Callbacks(
            run: { self.callBack($0) },
            progress: progress,
            results: { for itemResult in $0 { results(itemResult) } }
        ) { end in
            switch end {
            case .answered(_, let error, let last):
                ended(last)
                self.concludeHere(with: error)
            case .failed(let error): self.concludeHere(with: error)
            }
        }
        let call = RequestCall(
            request,
            to: access,
            timeouts: settings.timeouts,
            withFiles: settings.withFiles,
            callbacks: callbacks
        )
        self.commit(to: call)
        call.start()
    }

    /// Does the same for an operation without a database, in the container of its configuration or
    /// the default one.
    func send<Request: BatchRequest>(
        _ make: () throws(CKError) -> Request,
        toValues values: @escaping @Sendable (Request.ItemID, Result<Request.Value, any Error>) -> Void
    ) {
        let container = self.effectiveSettings.container ?? CKContainer.default()
        self.send(to: container.access, self.effectiveSettings.over(container.settings), make) { itemResult in
            if case .value(let id, let result) = itemResult { values(id, result) }
        }
    }
}
