package import RecordModel
package import StorageContract

/// Reads of the histories of zones, for operators: nothing is checked.
extension Store {
    /// Says how far the history of a zone goes back; `nil` if its container keeps none.
    package func historyExtent(
        of zone: ZoneID,
        for requester: Requester,
        reply: @escaping @Sendable (Result<HistoryExtent?, StoreError>) -> Void
    ) {
        self.history(of: zone, for: requester, reply) { (history) throws(StorageFailure) in
            try history.extent()
        }
    }

    /// Reads changes of a zone behind a position, in the order of their positions; at most `limit`.
    package func pastChanges(
        of zone: ZoneID,
        after position: Int64,
        limit: Int,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[PastChange], StoreError>) -> Void
    ) {
        self.history(of: zone, for: requester, reply) { (history) throws(StorageFailure) in
            try history.changes(after: position, limit: limit)
        }
    }

    /// Reads the records that changes of a zone replaced: one element a position, in order; `nil`
    /// for a change that replaced nothing, or is gone.
    package func pastRecords(
        of zone: ZoneID,
        before positions: [Int64],
        for requester: Requester,
        reply: @escaping @Sendable (Result<[PastRecord?], StoreError>) -> Void
    ) {
        self.history(of: zone, for: requester, reply) { (history) throws(StorageFailure) in
            try history.records(before: positions)
        }
    }

    private func history<Value: Sendable>(
        of zone: ZoneID,
        for requester: Requester,
        _ reply: @escaping @Sendable (Result<Value, StoreError>) -> Void,
        _ read: @escaping @Sendable (ZoneHistory) throws(StorageFailure) -> Value
    ) {
        self.read(.long, for: requester, reply) { (snapshot) throws(StorageFailure) in
            do throws(HistoryRefusal) {
                let history = try ZoneHistory(of: zone, for: requester, in: snapshot)
                do throws(StorageFailure) {
                    return .success(try read(history))
                } catch {
                    throw .storage(error)
                }
            } catch {
                switch error {
                case .refused(let refusal): return .failure(refusal)
                case .storage(let failure): throw failure
                }
            }
        }
    }
}
