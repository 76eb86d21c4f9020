import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Records through the SDK, over TLS, against the real server.
struct RecordTests {
    @Test(.timeLimit(.minutes(10)))
    func `a saved record is fetched with its fields, its tag and the server's dates`() async throws {
        try await Desk.run { desk in
            let now = Date(timeIntervalSince1970: 1_800_000_000)
            desk.server.clock.stop(at: now)
            let saved = try await desk.database.save(desk.record("a", ["title": "first", "count": 3]))
            #expect(saved.recordChangeTag != nil)
            #expect(saved.changedKeys().isEmpty)
            desk.server.clock.advance(by: .seconds(60))

            let fetched = try await desk.database.record(for: desk.id("a"))
            #expect(fetched["title"] as? String == "first")
            #expect(fetched["count"] as? Int == 3)
            #expect(fetched.recordChangeTag == saved.recordChangeTag)
            #expect(fetched.creationDate == now && fetched.modificationDate == now)
            #expect(fetched.recordType == "Note")

            fetched["title"] = "second"
            try await desk.database.save(fetched)
            let again = try await desk.database.record(for: desk.id("a"))
            #expect(again.creationDate == now)
            #expect(again.modificationDate == now.addingTimeInterval(60))
            #expect(again["count"] as? Int == 3)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a stale save fails with the server's, the client's and the ancestor record`() async throws {
        try await Desk.run { desk in
            let mine = try await desk.database.save(desk.record("a", ["title": "old"]))
            let theirs = try await desk.database.record(for: desk.id("a"))
            theirs["title"] = "theirs"
            try await desk.database.save(theirs)
            mine["title"] = "mine"
            let error = await thrown { try await desk.database.save(mine) }
            #expect(error?.code == .serverRecordChanged)
            #expect(error?.serverRecord?["title"] as? String == "theirs")
            #expect(error?.serverRecord?.recordChangeTag == theirs.recordChangeTag)
            #expect(error?.clientRecord?["title"] as? String == "mine")
            #expect(error?.ancestorRecord?["title"] as? String == "old")
            #expect(error?.retryAdvice == .afterChange)

            let merged = try #require(error?.serverRecord)
            merged["title"] = "merged"
            try await desk.database.save(merged)
            #expect(try await desk.database.record(for: desk.id("a"))["title"] as? String == "merged")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `inserting what exists is a conflict, updating what was deleted is an unknown item`() async throws {
        try await Desk.run { desk in
            let record = try await desk.database.save(desk.record("a", ["title": "there"]))
            let insert = await thrown { try await desk.database.save(desk.record("a", ["title": "new"])) }
            #expect(insert?.code == .serverRecordChanged)
            #expect(insert?.serverRecord?["title"] as? String == "there")

            try await desk.database.deleteRecord(withID: desk.id("a"))
            record["title"] = "late"
            let update = await thrown { try await desk.database.save(record) }
            #expect(update?.code == .unknownItem)
            let fetch = await thrown { _ = try await desk.database.record(for: desk.id("a")) }
            #expect(fetch?.code == .unknownItem)
            // Deleting what is gone succeeds.
            try await desk.database.deleteRecord(withID: desk.id("a"))
        }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [CKModifyRecordsOperation.RecordSavePolicy.changedKeys, .allKeys]
    )
    func `a policy that does not look at the tag overwrites what it sends`(
        policy: CKModifyRecordsOperation.RecordSavePolicy
    ) async throws {
        try await Desk.run { desk in
            let mine = try await desk.database.save(desk.record("a", ["title": "old", "count": 1]))
            let theirs = try await desk.database.record(for: desk.id("a"))
            theirs["count"] = 2
            theirs["extra"] = "kept"
            try await desk.database.save(theirs)
            mine["title"] = "mine"
            let results = try await desk.database.modifyRecords(
                saving: [mine],
                deleting: [],
                savePolicy: policy
            )
            #expect(results.saveResults[desk.id("a")]?.cloudKitError == nil)
            let now = try await desk.database.record(for: desk.id("a"))
            #expect(now["title"] as? String == "mine")
            #expect(now["count"] as? Int == (policy == .allKeys ? 1 : 2))
            #expect(now["extra"] as? String == "kept")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `one failed item of an atomic batch fails its peers, and names the culprit`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(desk.record("taken"))
            let batch = [desk.record("a"), desk.record("taken"), desk.record("b")]
            let results = try await desk.database.modifyRecords(saving: batch, deleting: []).saveResults
            let culprit = results[desk.id("taken")]?.cloudKitError
            #expect(culprit?.code == .serverRecordChanged)
            #expect(culprit?.batchCause == .culprit)
            for name in ["a", "b"] {
                let peer = results[desk.id(name)]?.cloudKitError
                #expect(peer?.code == .batchRequestFailed)
                #expect(peer?.batchCause == .atomicPeer(desk.id("taken")))
                let fetch = await thrown { _ = try await desk.database.record(for: desk.id(name)) }
                #expect(fetch?.code == .unknownItem)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `without atomicity the other items are saved`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(desk.record("taken"))
            let batch = [desk.record("a"), desk.record("taken"), desk.record("b")]
            let results = try await desk.database.modifyRecords(
                saving: batch,
                deleting: [],
                atomically: false
            )
            #expect(results.saveResults[desk.id("taken")]?.cloudKitError?.code == .serverRecordChanged)
            for name in ["a", "b"] {
                #expect(results.saveResults[desk.id(name)]?.cloudKitError == nil)
                _ = try await desk.database.record(for: desk.id(name))
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `desired keys cut what is fetched, and system fields always come`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(desk.record("a", ["title": "t", "count": 1, "extra": "e"]))
            let results = try await desk.database.records(
                for: [desk.id("a"), desk.id("no")],
                desiredKeys: ["count"]
            )
            let record = try #require(try results[desk.id("a")]?.get())
            #expect(record.allKeys() == ["count"])
            #expect(record.recordChangeTag != nil && record.creationDate != nil)
            #expect(results[desk.id("no")]?.cloudKitError?.code == .unknownItem)
            let none = try await desk.database.records(for: [desk.id("a")], desiredKeys: [])
            #expect(try none[desk.id("a")]?.get().allKeys() == [])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `encrypted values come back apart from plain ones`() async throws {
        try await Desk.run { desk in
            let record = desk.record("a", ["title": "plain"])
            record.encryptedValues["secret"] = "hidden"
            try await desk.database.save(record)
            let fetched = try await desk.database.record(for: desk.id("a"))
            #expect(fetched.encryptedValues["secret"] as? String == "hidden")
            #expect(fetched["title"] as? String == "plain")
            let plain = desk.record("b", ["secret": "plain now"])
            let error = await thrown { try await desk.database.save(plain) }
            #expect(error?.code == .invalidArguments || error?.code == .serverRejectedRequest)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an operation reports each record before it reports itself`() async throws {
        try await Desk.run { desk in
            let operation = CKModifyRecordsOperation(
                recordsToSave: [desk.record("a"), desk.record("b")],
                recordIDsToDelete: [desk.id("c")]
            )
            let (events, continuation) = AsyncStream<String>.makeStream()
            operation.perRecordSaveBlock = { id, _ in continuation.yield("save \(id.recordName)") }
            operation.perRecordDeleteBlock = { id, _ in continuation.yield("delete \(id.recordName)") }
            operation.modifyRecordsResultBlock = { result in
                continuation.yield(result.cloudKitError == nil ? "done" : "failed")
                continuation.finish()
            }
            desk.database.add(operation)
            var seen: [String] = []
            for await event in events { seen.append(event) }
            #expect(seen.last == "done")
            #expect(Set(seen.dropLast()) == ["save a", "save b", "delete c"])
            #expect(seen.count == 4)
        }
    }
}
