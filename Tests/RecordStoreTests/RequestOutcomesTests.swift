import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// Outcomes of requests in rows.
struct RequestOutcomesTests {
    private let tables = MemoryTables()
    private let database = DatabaseID(rawValue: 7)

    private func store(_ outcome: [UInt8], of request: RequestID, in database: DatabaseID) throws {
        try self.tables.put(RequestRow(database: database, id: request, outcome: outcome))
    }

    @Test
    func `an outcome is that of its request and database`() throws {
        let requests = (1...3).map { RequestID(high: $0, low: 0) }
        try self.store([1], of: requests[0], in: self.database)
        try self.store([3, 3], of: requests[2], in: self.database)
        try self.store([2], of: requests[1], in: DatabaseID(rawValue: 8))
        let outcomes = try requests.map { try self.tables.outcome(of: $0, in: self.database) }
        #expect(outcomes == [[1], nil, [3, 3]])
    }

    @Test
    func `an outcome that is damaged is a failure`() throws {
        try self.tables.put(
            [[self.database.columnValue, .bytes(RequestID(high: 1, low: 1).bytes), .integer(1)]],
            in: RequestRow.table
        )
        #expect(throws: StorageFailure.unexpected(code: 0)) {
            try self.tables.outcome(of: RequestID(high: 1, low: 1), in: self.database)
        }
    }
}
