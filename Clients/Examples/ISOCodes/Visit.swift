import CloudKit

/// Changes one record, so that listeners are notified.
struct Visit {
    let database: CKDatabase

    func run(to recordID: CKRecord.ID) async throws {
        let country = try await self.database.record(for: recordID)
        country["visits"] = (country["visits"] as? Int ?? 0) + 1
        let saved = try await self.database.save(country)
        print("Changed \(recordID.recordName), \(saved["name"] ?? "?"): visits \(saved["visits"] ?? 0).")
    }
}
