internal import CloudKit

/// Looks at records just before they are deleted.
struct DeletionCheck {
    let database: CKDatabase

    /// Returns the records of a batch's deletions that others have changed.
    ///
    /// - Throws: `CKError` if the server can't be asked.
    func changed(_ batch: PendingQueue.Batch) async throws -> [CKRecord] {
        var tags: [CKRecord.ID: String] = [:]
        for change in batch.changes {
            guard case .delete(let id, let tag) = change.content, let tag else { continue }
            tags[id] = tag
        }
        guard !tags.isEmpty else { return [] }
        let found = try await self.database.records(for: Array(tags.keys), desiredKeys: [])
        let changed = found.filter { id, result in
            guard case .success(let record) = result else { return false }
            return record.recordChangeTag != tags[id]
        }
        guard !changed.isEmpty else { return [] }
        // One that was deleted meanwhile has no result here.
        return try await self.database.records(for: Array(changed.keys)).values.compactMap { try? $0.get() }
    }
}
