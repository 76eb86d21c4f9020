internal import RecordClient
internal import RecordModel
internal import WireProtocol

/// Fetches saved shares again, because the server decides about their URLs and participants.
struct ShareRefresh: RecordCompletion {
    static let parallelMax = 4

    let session: ServerAccess.Session
    let scope: DatabaseScopeModel
    let user: String
    let timeouts: Timeouts
    /// When the time limit for all of it ends.
    let end: ContinuousClock.Instant

    func isNeeded(for record: CKRecord) -> Bool { record is CKShare }

    /// Stores the server's state; if it can't be fetched, the share stays as it was sent, because
    /// it is saved.
    func complete(_ record: CKRecord, meter: TransferMeter) async throws(CKError) -> CKRecord {
        let fetch = RecordFetch([record.recordID], desiredKeys: [], scope: self.scope)
        let operation = try fetch.operation(user: self.user)
        let outcomes: [UInt32: ItemOutcome]
        do throws(ClientError) {
            outcomes = try await self.session.client.perform(
                operation,
                timeout: self.timeouts.until(self.end).request
            )
        } catch {
            if case .cancelled = error { throw CKError(error) }
            return record
        }
        guard let share = record as? CKShare, case .record(let message)? = outcomes[0],
            let model = try? message.record()
        else { return record }
        let fresh = CKRecord.made(of: model, currentUser: self.user)
        guard let known = (fresh as? CKShare)?.sharing.known else { return record }
        share.isAt(self.session.address)
        _ = share.change { $0.refresh(known) }
        return share
    }
}
