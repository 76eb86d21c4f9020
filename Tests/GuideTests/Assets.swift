import CloudKit
import CloudKitTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct Assets {
    @Test
    func `a file is saved and fetched, with its progress and by ranges`() async throws {
        try await TestServer.run { server in
            let database = try await server.container(for: "alice").privateCloudDatabase
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try Data(repeating: 7, count: 1_000_000).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let printed = PrintedLines()
            @Sendable func print(_ items: Any...) { printed.add(items) }
            // <block> Save a file
            let photo = CKRecord(recordType: "Photo")
            photo["image"] = CKAsset(fileURL: file)
            try await database.save(photo)
            // </block>
            // <block> Fetch it
            let fetched = try await database.record(for: photo.recordID)
            if let image = fetched["image"] as? CKAsset, let url = image.fileURL {
                print(try Data(contentsOf: url).count, "bytes")
            }
            // </block>
            #expect((fetched["image"] as? CKAsset)?.fileSize == 1_000_000)

            photo["image"] = CKAsset(fileURL: file)
            // <block> Show progress
            let operation = CKModifyRecordsOperation(recordsToSave: [photo], recordIDsToDelete: nil)
            operation.perRecordProgressBlock = { record, fraction in
                print(record.recordID.recordName, Int(fraction * 100), "%")
            }
            operation.modifyRecordsResultBlock = { _ in print("The request has ended") }
            database.add(operation)
            // </block>
            let progress = await printed.until("The request has ended")
            #expect(progress.suffix(2) == ["\(photo.recordID.recordName) 100 %", "The request has ended"])

            // <block> Read a part of a file
            let configuration = CKOperation.Configuration()
            configuration.downloadsAssets = false
            let record = try await database.configuredWith(configuration: configuration) { database in
                try await database.record(for: photo.recordID)
            }
            if let image = record["image"] as? CKAsset {
                let start = try await database.assetData(image, of: record.recordID, in: 0..<65_536)
                print(start.count, "of", image.fileSize ?? 0, "bytes")
            }
            // </block>
            let image = try #require(record["image"] as? CKAsset)
            #expect(image.fileURL == nil)
            #expect(try await database.assetData(image, of: record.recordID, in: 0..<65_536).count == 65_536)
        }
    }
}
