import RecordModel
import StorageContract

@testable import EngineConformance
@testable import PostgreSQLEngine
@testable import RecordStore

extension EngineUnderTest {
    /// Executes a request under one ID, again and again until it is known what became of it.
    func repeated(
        _ operation: WriteRequest.Operation,
        id: RequestID? = nil
    ) async throws -> [WriteOutcome] {
        let request = id ?? self.newRequestID()
        for _ in 0..<120_000 {
            switch await self.write(operation, id: request) {
            case .success(let outcomes): return outcomes
            case .failure(.storageUnavailable), .failure(.diskFull):
                try await Task.sleep(for: .milliseconds(5))
            case .failure(let error): throw error
            }
        }
        throw StoreError.storageUnavailable(retryAfterMilliseconds: 0)
    }

    /// Saves a record so; returns its tag.
    func savedRepeatedly(_ save: RecordSave) async throws -> String? {
        try await self.repeated(.modifyRecords(ModifyRecords(scope: .private, saves: [save])))[0].tag
    }

    /// The last position of Alice's private database.
    func position() throws -> Int64 {
        let number = self.privately.database
        return try self.rows(DatabaseRow.self).first { $0.number == number }?.position ?? -1
    }
}
