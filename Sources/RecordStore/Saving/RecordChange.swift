import StorageContract

extension WriteTransaction {
    /// Writes records of a zone, and keeps what that replaces if the container has a history.
    ///
    /// Every change goes this way, except of the records of users: they have no history.
    ///
    /// - Returns: The numbers of the records that are saved, in order.
    @discardableResult
    func change(
        _ zone: ZoneKey,
        by writes: RecordWrites,
        of requester: Requester,
        under quotas: StorageQuotas
    ) throws(StorageFailure) -> [Int64] {
        let numbers = try self.apply(writes, to: zone, in: requester.environment)
        if let history = try self.history(of: requester.environment) {
            try PastKeeping(
                transaction: self,
                zone: zone,
                requester: requester,
                history: history,
                quotas: quotas
            ).keep(writes, numbers: numbers)
        }
        return numbers
    }
}
