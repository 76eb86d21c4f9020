import CloudKit

@main
struct Notes {
    static func main() async throws {
        let container = CKContainer(identifier: "iCloud.org.example.notes")
        let database = container.privateCloudDatabase

        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "first"))
        note["text"] = "Written on Linux"
        note["pages"] = 3
        do {
            try await database.save(note)
        } catch let error as CKError where error.code == .serverRecordChanged {
            print("Somebody was faster:", error.serverRecord?["text"] ?? "")
        } catch {
            print(error.localizedDescription)
            exit(1)
        }

        let fetched = try await database.record(for: note.recordID)
        print(fetched["text"] ?? "", fetched.modificationDate ?? .distantPast)
    }
}
