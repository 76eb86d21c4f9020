import CloudKit

/// Changes one record from two copies: the second save conflicts with the first, and is merged.
struct ConflictDemonstration {
    let database: CKDatabase

    func run(on recordID: CKRecord.ID) async throws {
        let ours = try await self.database.record(for: recordID)
        let theirs = try await self.database.record(for: recordID)
        theirs["capital"] = "Paris"
        _ = try await self.database.save(theirs)
        ours["nickname"] = "L'Hexagone"
        do {
            _ = try await self.database.save(ours)
            throw Failure("The second of two copies was saved without a conflict.")
        } catch let error as CKError where error.code == .serverRecordChanged {
            print("Changed \(recordID.recordName) from two copies: the second got serverRecordChanged.")
            let merged = try await self.merge(error)
            let capital = merged["capital"] as? String ?? "?"
            let nickname = merged["nickname"] as? String ?? "?"
            print("  Merged into the server's record and saved: capital \(capital), nickname \(nickname).")
        }
    }

    /// Merges our changes into the server's record and saves that, until there is no conflict.
    private func merge(_ conflict: CKError) async throws -> CKRecord {
        var conflict = conflict
        while true {
            guard let server = conflict.serverRecord, let client = conflict.clientRecord else {
                throw conflict
            }
            for key in client.changedKeys() { server[key] = client[key] }
            do {
                return try await self.database.save(server)
            } catch let error as CKError where error.code == .serverRecordChanged {
                conflict = error
            }
        }
    }
}
