import CloudKit

/// Finds records by their contents, page by page, with only the fields that are shown.
struct QueryDemonstration {
    let database: CKDatabase
    let zoneID: CKRecordZone.ID

    func run() async throws {
        try await self.listProvinces(of: "CA")
        try await self.findWord("Saint")
    }

    /// Fetches all provinces of a country by name, four a page, as a list on a screen would.
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

    /// Searches the text of all fields.
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
