/// Completes the records of a response.
protocol RecordCompletion: Sendable {
    /// How many records are completed at the same time.
    static var parallelMax: Int { get }

    func isNeeded(for record: CKRecord) -> Bool

    /// Completes a record.
    ///
    /// - Returns: The record, or another one in its place.
    /// - Throws: `CKError`, with which the item fails.
    func complete(_ record: CKRecord, meter: TransferMeter) async throws(CKError) -> CKRecord
}
