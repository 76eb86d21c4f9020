import CloudKit
import CloudKitTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct AssetProgressTests {
    private enum Event: Hashable {
        case progress(Double)
        case result(Bool)
    }

    private func finish(_ operation: CKOperation) async {
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            operation.start()
        }
    }

    /// Progress rises, ends with 1.0, once, just before the result.
    private func check(_ events: [Event], location: SourceLocation = #_sourceLocation) {
        #expect(events.last == .result(true), sourceLocation: location)
        let progress = events.dropLast().map { if case .progress(let it) = $0 { it } else { -1.0 } }
        #expect(progress.last == 1 && progress.filter { $0 == 1 }.count == 1, sourceLocation: location)
        #expect(
            progress == progress.sorted() && Set(progress).count == progress.count,
            sourceLocation: location
        )
    }

    @Test func `progress of a save and of a fetch rises to 1.0 before the result of each record`()
        async throws
    {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let records = try (0..<3).map { number in
                desk.record(
                    "r\(number)",
                    [
                        "one": try files.asset("one\(number)", bytes: 17 << 20, seed: UInt64(number)),
                        "two": try files.asset("two\(number)", bytes: 9 << 20, seed: UInt64(number) + 100),
                    ]
                )
            }
            let saved = Collected<(CKRecord.ID, Event)>()
            let save = CKModifyRecordsOperation(recordsToSave: records)
            save.perRecordProgressBlock = { saved.append(($0.recordID, .progress($1))) }
            save.perRecordSaveBlock = { saved.append(($0, .result($1.cloudKitError == nil))) }
            save.database = desk.database
            await self.finish(save)
            let fetched = Collected<(CKRecord.ID, Event)>()
            let fetch = CKFetchRecordsOperation(recordIDs: records.map(\.recordID))
            fetch.perRecordProgressBlock = { fetched.append(($0, .progress($1))) }
            fetch.perRecordResultBlock = { fetched.append(($0, .result($1.cloudKitError == nil))) }
            fetch.database = desk.database
            await self.finish(fetch)
            for events in [saved.values, fetched.values] {
                for record in records { self.check(events.filter { $0.0 == record.recordID }.map(\.1)) }
            }
            #expect(
                saved.values.contains {
                    if case .progress(let it) = $0.1 { (0.01..<0.99) ~= it } else { false }
                }
            )
        }
    }

    @Test func `cancelling in the middle ends an operation, and the next attempt goes on`() async throws {
        try await Desk.run { desk in
            let files = try SampleFiles()
            let proxy = CuttingProxy()
            let port = try await proxy.start(for: try #require(URL(string: desk.server.url)?.port))
            let device = try await desk.device("proxied", through: port)
            let size = 64 << 20
            let url = try files.make("f", bytes: size)
            func operation() -> CKModifyRecordsOperation {
                let operation = CKModifyRecordsOperation(
                    recordsToSave: [desk.record("a", ["file": CKAsset(fileURL: url)])]
                )
                operation.database = device
                return operation
            }
            let first = operation()
            let codes = Collected<CKError.Code?>()
            first.perRecordProgressBlock = { [weak first] _, fraction in if fraction > 0.2 { first?.cancel() }
            }
            first.modifyRecordsResultBlock = { codes.append($0.cloudKitError?.code) }
            await self.finish(first)
            #expect(codes.values == [.operationCancelled])
            let sent = proxy.counts.toServer
            #expect(sent < size)
            let second = operation()
            await self.finish(second)
            // A chunk at most came twice, beside what was on its way.
            #expect(proxy.counts.toServer < size + (10 << 20))
            #expect(try await desk.database.record(for: desk.id("a")).file("file") == Data(contentsOf: url))
            try await proxy.stop()
        }
    }
}
