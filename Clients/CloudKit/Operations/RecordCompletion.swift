/// What a record of an answer still lacks when the server has sent it.
protocol RecordCompletion: Sendable {
    /// Records that are completed at the same time.
    static var parallelMax: Int { get }

    func isNeeded(for record: CKRecord) -> Bool

    /// Gets what the record lacks.
    ///
    /// - Returns: The record, or another one in its place.
    /// - Throws: Why the item fails.
    func complete(_ record: CKRecord, meter: TransferMeter) async throws(CKError) -> CKRecord
}
