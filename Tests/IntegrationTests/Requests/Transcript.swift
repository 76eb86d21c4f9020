import CloudKit
import Foundation

/// What the callbacks of requests were called with, in order: the item and the code of its error,
/// 0 if there is none.
final class Transcript: Sendable {
    private let noted = Collected<String>()

    var lines: [String] { self.noted.values }

    func note(_ line: String) { self.noted.append(line) }

    func note<Value>(_ item: String, _ result: Result<Value, any Error>) {
        self.note("\(item) \(result.cloudKitError?.code.rawValue ?? 0)")
    }

    func note(_ item: String, _ error: (any Error)?) {
        self.note("\(item) \((error as? CKError)?.code.rawValue ?? 0)")
    }

    /// Makes an operation that modifies records of the default zone, each alone.
    func modify(_ records: [CKRecord], deleting ids: [String] = []) -> CKModifyRecordsOperation {
        let operation = CKModifyRecordsOperation(
            recordsToSave: records,
            recordIDsToDelete: ids.map { CKRecord.ID(recordName: $0) }
        )
        operation.isAtomic = false
        operation.perRecordProgressBlock = { self.note("progress \($0.recordID.recordName) \($1)") }
        operation.perRecordSaveBlock = { self.note("save \($0.recordName)", $1) }
        operation.perRecordDeleteBlock = { self.note("delete \($0.recordName)", $1) }
        operation.modifyRecordsResultBlock = { self.note("end", $0) }
        operation.modifyRecordsCompletionBlock = { self.note("older", $2) }
        return operation
    }

    /// Makes an operation that fetches records of the default zone.
    func fetch(_ names: String...) -> CKFetchRecordsOperation {
        let operation = CKFetchRecordsOperation(recordIDs: names.map { CKRecord.ID(recordName: $0) })
        operation.perRecordProgressBlock = { self.note("progress \($0.recordName) \($1)") }
        operation.perRecordResultBlock = { self.note("fetch \($0.recordName)", $1) }
        operation.fetchRecordsResultBlock = { self.note("end", $0) }
        operation.fetchRecordsCompletionBlock = { self.note("older", $1) }
        return operation
    }
}

extension ScriptedPeer {
    /// Runs an operation to its end.
    func finish(_ operation: CKDatabaseOperation) async {
        operation.database = self.database
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            operation.start()
        }
    }
}

extension CKRecord {
    static func note(_ name: String, type: String = "Note", file: URL? = nil) -> CKRecord {
        let record = CKRecord(recordType: type, recordID: CKRecord.ID(recordName: name))
        record["title"] = name
        if let file { record["file"] = CKAsset(fileURL: file) }
        return record
    }
}
