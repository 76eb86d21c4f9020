import CloudKit

/// Finds records by what is in them: page after page by a cursor, with the fields that are shown and no others.
struct QueryDemonstration {
    let database: CKDatabase
    let zoneID: CKRecordZone.ID

    func run() async throws {
        try await self.listProvinces(of: "CA")
        try await self.findWord("Saint")
    }

    /// All provinces of a country by name, four a page: what a list on a screen would do.
    private func listProvinces(of countryCode: String) async throws {
        let countryID = CKRecord.ID(recordName: countryCode, zoneID: self.zoneID)
        let query = CKQuery(
            recordType: "Subdivision",
            predicate: NSPredicate(
                format: "country == %@ AND kind == %@",
                CKRecord.Reference(recordID: countryID, action: .none),
                "Province"
            )
        )
        query.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        print("Queried the provinces of \(countryCode) by name, four a page:")
        var page = try await self.database.records(
            matching: query,
            inZoneWith: self.zoneID,
            desiredKeys: ["name"],
            resultsLimit: 4
        )
        while true {
            let names = try page.matchResults.map { try $0.1.get()["name"] as? String ?? "?" }
            if !names.isEmpty { print("  \(names.joined(separator: ", "))") }
            guard let cursor = page.queryCursor else { return }
            page = try await self.database.records(
                continuingMatchFrom: cursor,
                desiredKeys: ["name"],
                resultsLimit: 4
            )
        }
    }

    /// Full text over all fields.
    private func findWord(_ word: String) async throws {
        let query = CKQuery(
            recordType: "Subdivision",
            predicate: NSPredicate(format: "self CONTAINS %@", word)
        )
        let page = try await self.database.records(
            matching: query,
            inZoneWith: self.zoneID,
            desiredKeys: ["name"],
            resultsLimit: 3
        )
        let names = try page.matchResults.map { try $0.1.get()["name"] as? String ?? "?" }
        print("Searched for the word \"\(word)\": \(names.joined(separator: ", ")), and more.")
    }
}
