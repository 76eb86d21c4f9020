import CloudKit

/// Saves a file as an asset, fetches it back, and compares the hashes.
struct FileDemonstration {
    let database: CKDatabase

    func run(on path: String) async throws {
        let file = URL(fileURLWithPath: path)
        let bytes = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        let record = CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: "largest"))
        record["name"] = file.lastPathComponent
        record["content"] = CKAsset(fileURL: file)
        // Written at once, before the bar: `print` buffers output that is not for a terminal.
        FileHandle.standardOutput.write(Data("\(path), \(bytes / Self.megabyte) MB:\n".utf8))
        try await self.save(record, bytes: bytes)
        let fetched = try await self.fetch(record.recordID, bytes: bytes)
        guard let copy = (fetched["content"] as? CKAsset)?.fileURL else {
            throw Failure("The file was not fetched.")
        }
        let (saved, came) = (try Self.hash(of: file), try Self.hash(of: copy))
        guard saved == came else { throw Failure("The file that came back is another one.") }
        print("Uploaded and downloaded, both SHA-256 \(saved)")
    }

    private static let megabyte = 1_000_000

    private func save(_ record: CKRecord, bytes: Int) async throws {
        let progress = ProgressBar(title: "Upload      ", total: bytes / Self.megabyte, unit: "MB")
        try await withCheckedThrowingContinuation { (end: CheckedContinuation<Void, any Error>) in
            let operation = CKModifyRecordsOperation(recordsToSave: [record])
            operation.savePolicy = .allKeys
            operation.perRecordProgressBlock = { progress.show($1) }
            var failure: (any Error)?
            operation.perRecordSaveBlock = { _, result in
                if case .failure(let error) = result { failure = error }
            }
            operation.modifyRecordsResultBlock = { result in
                end.resume(with: result.flatMap { failure.map { .failure($0) } ?? .success(()) })
            }
            self.database.add(operation)
        }
        progress.finish()
    }

    private func fetch(_ recordID: CKRecord.ID, bytes: Int) async throws -> CKRecord {
        let progress = ProgressBar(title: "Download    ", total: bytes / Self.megabyte, unit: "MB")
        let record = try await withCheckedThrowingContinuation {
            (end: CheckedContinuation<CKRecord, any Error>) in
            let operation = CKFetchRecordsOperation(recordIDs: [recordID])
            operation.perRecordProgressBlock = { progress.show($1) }
            var fetched: Result<CKRecord, any Error>?
            operation.perRecordResultBlock = { fetched = $1 }
            operation.fetchRecordsResultBlock = { result in
                end.resume(
                    with: result.flatMap { fetched ?? .failure(Failure("There was no answer for the file.")) }
                )
            }
            self.database.add(operation)
        }
        progress.finish()
        return record
    }

    private static func hash(of file: URL) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sha256sum")
        process.arguments = [file.path]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure("sha256sum failed for \(file.path).") }
        return String(text.prefix { $0 != " " })
    }
}
