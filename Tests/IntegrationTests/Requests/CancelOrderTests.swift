import CloudKit
import RecordModel
import Testing
import WireProtocol

/// What a request that is cancelled still reports, by when that was.
@Suite(.timeLimit(.minutes(10))) struct CancelOrderTests {
    @Test func `before its start nothing is sent`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let operation = log.fetch("a")
            operation.cancel()
            await peer.finish(operation)
            let database = peer.database
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                return await thrown { _ = try await database.record(for: CKRecord.ID(recordName: "a")) }
            }
            task.cancel()
            #expect(await task.value?.code == .operationCancelled)
            #expect(log.lines == ["end 20", "older 20"])
            // The first request that the server sees.
            async let finished: Void = peer.finish(log.fetch("b"))
            let call = try await peer.next()
            guard case .fetchRecords(let fetch) = call.operation else {
                Issue.record("\(call.operation)")
                return
            }
            #expect(fetch.ids.map(\.recordName) == ["b"])
            call.end()
            await finished
        }
    }

    @Test func `during the upload no item has a result`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let files = try SampleFiles()
            let operation = log.modify([
                .note("bad", type: "no type"), .note("file", file: try files.make("f", bytes: 8)),
            ])
            async let finished: Void = peer.finish(operation)
            _ = try await peer.next()
            operation.cancel()
            await finished
            #expect(log.lines == ["end 20", "older 20"])
        }
    }

    @Test func `after some results the others have none`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let operation = log.fetch("a", "b")
            operation.perRecordProgressBlock = { [weak operation] _, _ in operation?.cancel() }
            async let finished: Void = peer.finish(operation)
            try await peer.next().items((0, .record("a")))
            await finished
            operation.cancel()
            #expect(log.lines == ["fetch a 0", "end 20", "older 20"])
        }
    }

    @Test func `an async call in flight throws`() async throws {
        try await ScriptedPeer.run { peer in
            let database = peer.database
            let task = Task {
                await thrown { _ = try await database.record(for: CKRecord.ID(recordName: "a")) }
            }
            _ = try await peer.next()
            task.cancel()
            #expect(await task.value?.code == .operationCancelled)
        }
    }

    @Test func `while files come, records without them are reported, and the request fails`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let operation = log.fetch("a", "b")
            async let finished: Void = peer.finish(operation)
            let call = try await peer.next()
            call.items((0, .record("a", file: [1])), (1, .record("b")))
            call.end()
            _ = try await peer.next()
            operation.cancel()
            await finished
            #expect(log.lines == ["fetch a 20", "progress b 1.0", "fetch b 0", "end 20", "older 20"])

            let database = peer.database
            let task = Task {
                await thrown { _ = try await database.record(for: CKRecord.ID(recordName: "a")) }
            }
            let second = try await peer.next()
            second.items((0, .record("a", file: [1])))
            second.end()
            _ = try await peer.next()
            task.cancel()
            #expect(await task.value?.code == .operationCancelled)
        }
    }

    @Test func `before a file is uploaded again the request fails`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let files = try SampleFiles()
            let operation = log.modify([
                .note("plain"), .note("file", file: try files.make("f", bytes: 8)),
            ])
            operation.perRecordProgressBlock = nil
            async let finished: Void = peer.finish(operation)
            try await peer.next().takeUpload()
            let call = try await peer.next()
            call.items((0, .saved), (1, .failed(.assetNotAvailable)))
            call.end()
            _ = try await peer.next()
            operation.cancel()
            await finished
            #expect(log.lines == ["save plain 0", "end 20", "older 20"])
        }
    }

    @Test func `after the end nothing is reported`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let operation = log.fetch("a")
            async let finished: Void = peer.finish(operation)
            let call = try await peer.next()
            call.items((0, .record("a")))
            call.end()
            await finished
            operation.cancel()
            #expect(log.lines == ["progress a 1.0", "fetch a 0", "end 0", "older 0"])
        }
    }
}
