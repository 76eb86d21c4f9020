import CloudKit

/// Saves records in one request, and does what CloudKit's errors ask for: waits, splits, or gives up with the culprits.
struct BatchSaver {
    /// CloudKit's limit for one request.
    static let batchRecordsMax = 400
    private static let attemptsMax = 5

    let database: CKDatabase

    /// Saves records; `saved` is told how many, request by request.
    func save(_ records: [CKRecord], saved: (Int) -> Void) async throws {
        var attempt = 1
        while true {
            do {
                saved(try await self.saveOnce(records).count)
                return
            } catch let error as CKError where error.code == .limitExceeded && records.count > 1 {
                let half = records.count / 2
                try await self.save(Array(records[..<half]), saved: saved)
                try await self.save(Array(records[half...]), saved: saved)
                return
            } catch let error as CKError where error.code == .partialFailure {
                throw Failure(Self.culprits(of: error))
            } catch let error as CKError {
                guard let seconds = error.retryAfterSeconds, attempt < Self.attemptsMax else { throw error }
                try await Task.sleep(for: .seconds(seconds))
                attempt += 1
            }
        }
    }

    private func saveOnce(_ records: [CKRecord]) async throws -> [CKRecord.ID] {
        try await withCheckedThrowingContinuation { continuation in
            let operation = CKModifyRecordsOperation(recordsToSave: records)
            // Loading again writes over what is there.
            operation.savePolicy = .changedKeys
            operation.isAtomic = true
            operation.qualityOfService = .userInitiated
            var savedIDs: [CKRecord.ID] = []
            operation.perRecordSaveBlock = { recordID, result in
                if case .success = result { savedIDs.append(recordID) }
            }
            operation.modifyRecordsResultBlock = { result in
                continuation.resume(with: result.map { savedIDs })
            }
            self.database.add(operation)
        }
    }

    /// The records that are at fault: in an atomic batch all others fail with `batchRequestFailed`.
    private static func culprits(of error: CKError) -> String {
        let errors = error.partialErrorsByItemID ?? [:]
        let lines = errors.compactMap { itemID, error -> String? in
            guard let recordID = itemID as? CKRecord.ID, let error = error as? CKError else { return nil }
            guard error.code != .batchRequestFailed else { return nil }
            return "  \(recordID.recordName): \(error.localizedDescription)"
        }
        return "The server refused these records:\n" + lines.sorted().joined(separator: "\n")
    }
}
