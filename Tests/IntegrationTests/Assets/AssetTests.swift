import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Files as fields of records, through the SDK against the real server.
@Suite(.timeLimit(.minutes(10)))
struct AssetTests {
    private static let mebibyte = SampleFiles.mebibyte

    @Test(arguments: [0, 1, 300_000, 9 * mebibyte + 1])
    func `a file that was saved comes back byte by byte, and the saved record keeps its own`(
        bytes: Int
    )
        async throws
    {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let url = try files.make("photo.jpg", bytes: bytes)
            let record = desk.record("a", ["title": "x", "photo": CKAsset(fileURL: url)])
            let saved = try await desk.database.save(record)
            #expect((saved["photo"] as? CKAsset)?.fileURL == url)
            #expect((saved["photo"] as? CKAsset)?.fileSize == Int64(bytes))
            let fetched = try await desk.database.record(for: desk.id("a"))
            #expect(try fetched.file("photo") == Data(contentsOf: url))
            #expect((fetched["photo"] as? CKAsset)?.fileURL != url && fetched["title"] as? String == "x")
        }
    }

    @Test func `several assets of several records, alone and in lists, are saved and fetched together`()
        async throws
    {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let records = try (0..<6).map { number in
                let list = try (0..<3).map {
                    try files.asset("\(number)-\($0)", bytes: 1_000 * ($0 + 1), seed: UInt64(number))
                }
                let same = try files.asset("same-\(number)", bytes: 5_000, seed: 77)
                return desk.record("r\(number)", ["list": list, "same": same])
            }
            let results = try await desk.database.modifyRecords(saving: records, deleting: []).saveResults
            for record in records { _ = try results[record.recordID]?.get() }
            let device = try await desk.device("other")
            let fetched = try await device.records(for: records.map(\.recordID))
            for (number, record) in records.enumerated() {
                let other = try #require(try fetched[record.recordID]?.get())
                #expect(try other.files("list") == record.files("list"))
                #expect(try other.file("same") == Data(contentsOf: files.url("same-\(number)")))
            }
        }
    }

    @Test func `bytes that the server has are not sent again, and bytes that are here are not fetched again`()
        async throws
    {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let proxy = CuttingProxy()
            let port = try await proxy.start(for: try #require(URL(string: desk.server.url)?.port))
            let device = try await desk.device("proxied", through: port)
            let first = try files.asset("one", bytes: 3 * Self.mebibyte)
            try await device.save(desk.record("a", ["file": first]))
            let afterUpload = proxy.counts
            #expect(afterUpload.toServer > 3 * Self.mebibyte)
            // Another file of the same bytes in another record.
            let second = try files.asset("two", bytes: 3 * Self.mebibyte)
            try await device.save(desk.record("b", ["file": second]))
            #expect(proxy.counts.toServer - afterUpload.toServer < 20_000)
            let fetched = try await device.record(for: desk.id("a"))
            let afterDownload = proxy.counts
            #expect(afterDownload.toClient > 3 * Self.mebibyte)
            let again = try await device.record(for: desk.id("b"))
            #expect(proxy.counts.toClient - afterDownload.toClient < 20_000)
            #expect(try again.file("file") == fetched.file("file"))
            try await proxy.stop()
        }
    }

    @Test func `an asset that was fetched goes back as it is, and to another record`() async throws {
        try await Desk.run { desk in
            let files = try SampleFiles()
            try await desk.database.save(desk.record("a", ["file": files.asset("f", bytes: 100_000)]))
            let fetched = try await desk.database.record(for: desk.id("a"))
            fetched["title"] = "new"
            let results = try await desk.database.modifyRecords(
                saving: [fetched],
                deleting: [],
                savePolicy: .allKeys
            ).saveResults
            _ = try results[fetched.recordID]?.get()
            let other = desk.record("b", ["file": try #require(fetched["file"] as? CKAsset)])
            try await desk.database.save(other)
            let device = try await desk.device("other")
            #expect(try await device.record(for: desk.id("b")).file("file") == fetched.file("file"))
            #expect(try await device.record(for: desk.id("a"))["title"] as? String == "new")
        }
    }

    @Test func `fields that are not desired bring no files, and configurations can do without any`()
        async throws
    {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let record = desk.record("a", ["title": "x", "file": try files.asset("f", bytes: 2_000_000)])
            try await desk.database.save(record)
            let proxy = CuttingProxy()
            let port = try await proxy.start(for: try #require(URL(string: desk.server.url)?.port))
            let device = try await desk.device("proxied", through: port)
            let cut = try await device.records(for: [desk.id("a")], desiredKeys: ["title"])
            let fetched = try #require(try cut[desk.id("a")]?.get())
            #expect(fetched.allKeys() == ["title"])
            let configuration = CKOperation.Configuration()
            configuration.downloadsAssets = false
            let bare = try await device.configuredWith(configuration: configuration) { database in
                try await database.record(for: desk.id("a"))
            }
            let asset = try #require(bare["file"] as? CKAsset)
            #expect(asset.fileURL == nil && asset.fileSize == 2_000_000)
            #expect(proxy.counts.toClient < 100_000)
            try await proxy.stop()
        }
    }

    @Test func `ranges of an asset are read without the rest`() async throws {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let url = try files.make("film", bytes: 4 * Self.mebibyte)
            let record = desk.record("a", ["film": CKAsset(fileURL: url)])
            let asset = try #require(record["film"] as? CKAsset)
            await expect(.invalidArguments) { _ = try await desk.database.assetData(asset, of: desk.id("a")) }
            try await desk.database.save(record)
            let contents = try Data(contentsOf: url)
            let proxy = CuttingProxy()
            let port = try await proxy.start(for: try #require(URL(string: desk.server.url)?.port))
            let device = try await desk.device("proxied", through: port)
            let end = Int64(contents.count)
            for range in [0..<1, 1_000_000..<1_300_000, end - 5..<end + 100, end..<end, 7..<7]
                as [Range<Int64>]
            {
                let data = try await device.assetData(asset, of: desk.id("a"), in: range)
                let wanted = range.clamped(to: 0..<end)
                #expect(data == contents[Int(wanted.lowerBound)..<Int(wanted.upperBound)])
            }
            #expect(proxy.counts.toClient < 500_000)
            #expect(try await device.assetData(asset, of: desk.id("a")) == contents)
            _ = try await desk.database.deleteRecord(withID: desk.id("a"))
            await expect(.unknownItem) { _ = try await device.assetData(asset, of: desk.id("a"), in: 0..<1) }
            try await proxy.stop()
        }
    }

    @Test func `queries, changes, snapshots and a sync engine's pages bring files too`() async throws {
        try await Desk.run { desk in
            let files = try SampleFiles()
            for number in 0..<5 {
                let asset = try files.asset("f\(number)", bytes: 40_000, seed: UInt64(number))
                try await desk.database.save(desk.record("r\(number)", ["title": "x", "file": asset]))
            }
            func check(_ records: [CKRecord]) throws {
                #expect(records.count == 5)
                for record in records {
                    let name = record.recordID.recordName.dropFirst()
                    #expect(try record.file("file") == Data(contentsOf: files.url("f\(name)")))
                }
            }
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "title == 'x'"))
            let page = try await desk.database.records(
                matching: query,
                inZoneWith: desk.zone
            )
            try check(page.matchResults.map { try $0.1.get() })
            let changes = try await desk.device("changes").recordZoneChanges(
                inZoneWith: desk.zone,
                since: nil
            )
            try check(changes.modificationResultsByID.values.map { try $0.get().record })
            var records: [CKRecord] = []
            for try await page in try await desk.device("snapshot").zoneSnapshot(of: desk.zone) {
                records += page.records
            }
            try check(records)
            let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [desk.zone])
            let changed = Collected<CKRecord>()
            operation.recordWasChangedBlock = { _, result in
                if case .success(let record) = result { changed.append(record) }
            }
            operation.database = try await desk.device("operation")
            await withCheckedContinuation { continuation in
                operation.completionBlock = { continuation.resume() }
                operation.start()
            }
            try check(changed.values)
        }
    }

    @Test func `the server's record of a conflict has assets without files`() async throws {
        try await Desk.run { desk in
            let files = try SampleFiles()
            try await desk.database.save(desk.record("a", ["file": files.asset("f", bytes: 1_000)]))
            let error = await thrown {
                try await desk.database.save(desk.record("a", ["file": files.asset("g", bytes: 900)]))
            }
            #expect(error?.code == .serverRecordChanged)
            let asset = try #require(error?.serverRecord?["file"] as? CKAsset)
            #expect(asset.fileURL == nil && asset.fileSize == 1_000)
        }
    }

    @Test func `a file that is missing or no file fails its record, and in an atomic batch the others`()
        async throws
    {
        try await Desk.run { desk in
            let files = try SampleFiles()
            for isAtomic in [true, false] {
                let good = desk.record("good", ["file": try files.asset("f", bytes: 10)])
                let missing = desk.record("missing", ["file": CKAsset(fileURL: files.url("none"))])
                let results = try await desk.database.modifyRecords(
                    saving: [good, missing],
                    deleting: [],
                    savePolicy: .changedKeys,
                    atomically: isAtomic
                ).saveResults
                #expect(results[missing.recordID]?.cloudKitError?.code == .assetFileNotFound)
                #expect(results[missing.recordID]?.cloudKitError?.batchCause == .culprit)
                #expect(
                    results[good.recordID]?.cloudKitError?.code == (isAtomic ? .batchRequestFailed : nil)
                )
            }
            let folder = desk.record("folder", ["file": CKAsset(fileURL: files.url(""))])
            await expect(.invalidArguments) { try await desk.database.save(folder) }
            await expect(.unknownItem) { _ = try await desk.database.record(for: folder.recordID) }
        }
    }

    @Test func `a file that changes while it is saved is assetFileModified, and nothing is saved`()
        async throws
    {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let url = try files.make("f", bytes: 24 * Self.mebibyte)
            let record = desk.record("a", ["file": CKAsset(fileURL: url)])
            let operation = CKModifyRecordsOperation(recordsToSave: [record])
            operation.perRecordProgressBlock = { _, _ in
                // The contents do not matter: another time is another file.
                try? FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -100)],
                    ofItemAtPath: url.path
                )
            }
            let results = Collected<CKError.Code?>()
            operation.perRecordSaveBlock = { _, result in results.append(result.cloudKitError?.code) }
            operation.database = desk.database
            await withCheckedContinuation { continuation in
                operation.completionBlock = { continuation.resume() }
                operation.start()
            }
            #expect(results.values == [.assetFileModified])
            await expect(.unknownItem) { _ = try await desk.database.record(for: desk.id("a")) }
        }
    }
}
