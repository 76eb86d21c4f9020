internal import WireProtocol

/// A request as it is sent: the whole of it, or a part once more.
struct RequestAttempt<Request: BatchRequest>: Sendable {
    let request: Request
    let roles: RequestRoles<Request>
    /// `nil` if nothing is sent.
    var session: ServerAccess.Session?
    var user = ""
    /// Completes the records of the results; `nil` if they are complete as they come.
    var completion: (any RecordCompletion)?

    /// Reads the result of an item, and tells its share where the server is.
    func result(of item: Item) throws(WireError) -> Request.ItemResult? {
        let itemResult = try self.request.result(of: item, user: self.user)
        if let itemResult, let share = self.share(of: itemResult), let address = self.session?.address {
            share.isAt(address)
        }
        return itemResult
    }

    private func share(of itemResult: Request.ItemResult) -> CKShare? {
        switch itemResult {
        case .value(_, .success(let value)):
            self.roles.share.map { $0(value) } ?? self.roles.records?.record(value) as? CKShare
        case .value(_, .failure(let error)): (error as? CKError)?.serverRecord as? CKShare
        case .deletion: nil
        }
    }

    /// Returns the record of a result, if it is to be completed.
    func incompleteRecord(of itemResult: Request.ItemResult) -> CKRecord? {
        guard case .value(_, .success(let value)) = itemResult, let completion = self.completion,
            let record = self.roles.records?.record(value), completion.isNeeded(for: record)
        else { return nil }
        return record
    }
}
