import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Input that a server must refuse, each with the documented error, and nothing of it remains.
struct BoundTests {
    @Test(.timeLimit(.minutes(10)))
    func `a record of two megabytes is too large, one below a megabyte is not`() async throws {
        try await Desk.run { desk in
            let large = desk.record("large", ["data": Data(count: 2 * 1_024 * 1_024)])
            await expect(.limitExceeded) { try await desk.database.save(large) }
            try await desk.database.save(desk.record("small", ["data": Data(count: 1_024 * 1_024 - 100)]))
            let error = await thrown { _ = try await desk.database.record(for: desk.id("large")) }
            #expect(error?.code == .unknownItem)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `400 items are taken, 401 are not`() async throws {
        try await Desk.run { desk in
            let records = (0..<401).map { desk.record("r\($0)") }
            let error = await thrown { try await desk.database.modifyRecords(saving: records, deleting: []) }
            #expect(error?.code == .limitExceeded)
            await expect(.unknownItem) { _ = try await desk.database.record(for: desk.id("r0")) }
            let results = try await desk.database.modifyRecords(
                saving: Array(records.dropLast()),
                deleting: []
            )
            #expect(results.saveResults.count == 400)
            #expect(results.saveResults.values.allSatisfy { $0.cloudKitError == nil })
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a field keeps the type that it was first saved with`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(desk.record("a", ["count": 1]))
            let batch = [desk.record("b", ["count": 2]), desk.record("c", ["count": "three"])]
            let results = try await desk.database.modifyRecords(saving: batch, deleting: []).saveResults
            #expect(
                results[desk.id("c")]?.cloudKitError?.code == .invalidArguments
                    || results[desk.id("c")]?.cloudKitError?.code == .serverRejectedRequest
            )
            #expect(results[desk.id("b")]?.cloudKitError?.code == .batchRequestFailed)
            await expect(.unknownItem) { _ = try await desk.database.record(for: desk.id("b")) }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `the same record twice in a request is refused as a whole`() async throws {
        try await Desk.run { desk in
            let batch = [desk.record("a"), desk.record("b"), desk.record("b")]
            let twice = await thrown { try await desk.database.modifyRecords(saving: batch, deleting: []) }
            #expect(twice?.code == .invalidArguments)
            let both = await thrown {
                try await desk.database.modifyRecords(saving: [desk.record("a")], deleting: [desk.id("a")])
            }
            #expect(both?.code == .invalidArguments)
            await expect(.unknownItem) { _ = try await desk.database.record(for: desk.id("a")) }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a full disk refuses writes for a time and loses nothing acknowledged`() async throws {
        var options = TestServer.Options()
        options.diskBytesMax = 1_500_000
        try await Desk.run(options) { desk in
            var saved: [CKRecord.ID] = []
            var refusal: CKError?
            for number in 0..<100 where refusal == nil {
                let record = desk.record("r\(number)", ["data": Data(repeating: 7, count: 50_000)])
                do {
                    try await desk.database.save(record)
                    saved.append(record.recordID)
                } catch {
                    refusal = error as? CKError
                }
            }
            #expect(!saved.isEmpty && saved.count < 100)
            #expect(refusal?.retryAfterSeconds ?? 0 > 0)
            for id in saved {
                let record = try await desk.database.record(for: id)
                #expect((record["data"] as? Data)?.count == 50_000)
            }
            let batch = (0..<3).map { desk.record("full\($0)", ["data": Data(count: 400_000)]) }
            let error = await thrown { try await desk.database.modifyRecords(saving: batch, deleting: []) }
            #expect(error?.retryAfterSeconds ?? 0 > 0)
            let absent = await thrown { _ = try await desk.database.record(for: desk.id("full0")) }
            #expect(absent?.code == .unknownItem)
        }
    }
}
