import CloudKit

/// Saves records in one request, and follows CloudKit's errors.
///
/// It waits and retries, splits the batch, or gives up with the errors of the items at fault.
struct BatchSaver {
    /// CloudKit's limit for one request.
    static let batchRecordsMax = 400
    private static let attemptsMax = 5

    let database: CKDatabase

    /// Saves records, and calls `saved` with the number of each request.
    func save(_ records: [CKRecord], saved: (Int) -> Void) async throws {
        var attempt = 1
        while true {
            do {
                saved(try await self.saveOnce(records))
                return
            } catch let error as CKError where error.code == .limitExceeded && records.count > 1 {
                let half = records.count / 2
                try await self.save(Array(records[..<half]), saved: saved)
                try await self.save(Array(records[half...]), saved: saved)
                return
            } catch let error as CKError {
                guard let seconds = error.retryAfterSeconds, attempt < Self.attemptsMax else { throw error }
                try await Task.sleep(for: .seconds(seconds))
                attempt += 1
            }
        }
    }

    /// - Returns: How many records were saved.
    private func saveOnce(_ records: [CKRecord]) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let operation = CKModifyRecordsOperation(recordsToSave: records)
            // A second load overwrites the records of the first.
            operation.savePolicy = .changedKeys
            operation.isAtomic = true
            operation.qualityOfService = .userInitiated
            var savedCount = 0
            var culprits: [String] = []
            operation.perRecordSaveBlock = { recordID, result in
                switch result {
                case .success: savedCount += 1
                // In an atomic batch all records fail with the one at fault.
                case .failure(CKError.batchRequestFailed): break
                case .failure(let error):
                    culprits.append("  \(recordID.recordName): \(error.localizedDescription)")
                }
            }
            // A success means that every record has a result, not that every one was saved.
            operation.modifyRecordsResultBlock = { result in
                continuation.resume(
                    with: result.flatMap {
                        culprits.isEmpty ? .success(savedCount) : .failure(Self.refusal(of: culprits))
                    }
                )
            }
            self.database.add(operation)
        }
    }

    private static func refusal(of culprits: [String]) -> Failure {
        Failure("The server refused these records:\n" + culprits.sorted().joined(separator: "\n"))
    }
}
