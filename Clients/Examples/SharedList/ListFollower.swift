import CloudKit

/// A list in the private database, or in the shared one.
actor ListFollower {
    nonisolated let database: CKDatabase
    private let list: CKRecord.ID
    private var token: CKServerChangeToken?
    /// The items that this process has added, which it does not print.
    private var own: Set<CKRecord.ID> = []

    init(database: CKDatabase, list: CKRecord.ID) {
        self.database = database
        self.list = list
    }

    /// Adds items to the list: children of a record are shared with it.
    func add(_ texts: [String]) async throws {
        for text in texts {
            let id = CKRecord.ID(recordName: UUID().uuidString, zoneID: self.list.zoneID)
            let item = CKRecord(recordType: "Item", recordID: id)
            item["text"] = text
            item.setParent(self.list)
            self.own.insert(id)
            try await self.database.save(item)
            say("Added: \(text)")
        }
    }

    /// Prints what others have added since the last time.
    func printChanges() async throws {
        var isThrough = false
        while !isThrough {
            let changes = try await self.database.recordZoneChanges(
                inZoneWith: self.list.zoneID,
                since: self.token
            )
            for (id, result) in changes.modificationResultsByID where !self.own.contains(id) {
                let record = try result.get().record
                guard record.recordType == "Item", let text = record["text"] as? String else { continue }
                say("News: \(text)")
            }
            self.token = changes.changeToken
            isThrough = !changes.moreComing
        }
    }
}

/// Prints a line at once, also into a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
