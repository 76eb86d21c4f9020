import CloudKit
import RecordModel
import Testing
import WireProtocol

/// The order of all callbacks of requests, whatever the server sends.
@Suite(.timeLimit(.minutes(10))) struct RequestOrderTests {
    @Test func `results come in order of arrival, each once, and those that were left out come last`()
        async throws
    {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let records = ["a", "b", "c"].map { CKRecord.note($0) } + [CKRecord.note("bad", type: "no type")]
            async let finished: Void = peer.finish(log.modify(records, deleting: ["d"]))
            let call = try await peer.next()
            call.items((2, .saved), (0, .failed(.zoneBusy)))
            call.items((2, .saved))
            call.end()
            await finished
            #expect(
                log.lines == [
                    "save bad 12", "progress c 1.0", "save c 0", "save a 23", "save b 1", "delete d 1",
                    "end 0", "older 2",
                ]
            )
        }
    }

    @Test func `an async call gets the same results at the end`() async throws {
        try await ScriptedPeer.run { peer in
            let records = ["a", "b", "c"].map { CKRecord.note($0) } + [CKRecord.note("bad", type: "no type")]
            let ids = records.map(\.recordID)
            let database = peer.database
            async let results = database.modifyRecords(
                saving: records,
                deleting: [CKRecord.ID(recordName: "d")],
                atomically: false
            )
            let call = try await peer.next()
            call.items((2, .saved), (0, .failed(.zoneBusy)))
            call.items((2, .saved))
            call.end()
            let (saves, deletes) = try await results
            let codes = ids.map { saves[$0]?.cloudKitError?.code.rawValue ?? 0 }
            #expect(codes == [23, 1, 0, 12] && saves.count == 4)
            #expect(deletes.values.map { $0.cloudKitError?.code } == [.internalError])
        }
    }

    @Test func `a handler is called once, with all results`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let database = peer.database
            async let ended: Void = withCheckedContinuation { continuation in
                let ids = ["a", "b", "c"].map { CKRecord.ID(recordName: $0) }
                database.fetch(withRecordIDs: ids, desiredKeys: nil) { results in
                    for id in ids {
                        guard let result = try? results.get()[id] else { continue }
                        log.note(id.recordName, result)
                    }
                    log.note("end", results)
                    continuation.resume()
                }
            }
            let call = try await peer.next()
            call.items((1, .record("b")))
            call.items((2, .failed(.permissionFailure)))
            call.end()
            await ended
            #expect(log.lines == ["a 1", "b 0", "c 10", "end 0"])
        }
    }

    @Test func `results before a failure of the whole request are reported before it`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            async let finished: Void = peer.finish(log.modify([.note("a"), .note("b")]))
            let call = try await peer.next()
            call.items((0, .saved))
            call.end(.failed(.permissionFailure))
            await finished
            #expect(log.lines == ["progress a 1.0", "save a 0", "end 10", "older 10"])
            let database = peer.database
            async let error = thrown {
                _ = try await database.modifyRecords(saving: [.note("a"), .note("b")], deleting: [])
            }
            let again = try await peer.next()
            again.items((0, .saved))
            again.end(.failed(.permissionFailure))
            #expect(await error?.code == .permissionFailure)
        }
    }

    @Test func `a connection that breaks repeats no result`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            async let fetched: Void = peer.finish(log.fetch("a", "b"))
            let first = try await peer.next()
            first.items((1, .record("b")))
            first.hangUp()
            let second = try await peer.next()
            second.items((0, .record("a")), (1, .record("b")))
            second.end()
            await fetched
            async let saved: Void = peer.finish(log.modify([.note("c"), .note("d")]))
            let third = try await peer.next()
            third.items((1, .saved))
            third.hangUp()
            let fourth = try await peer.next()
            fourth.items((1, .saved), (0, .failed(.serverRecordChanged)))
            fourth.end()
            await saved
            #expect(
                log.lines == [
                    "progress b 1.0", "fetch b 0", "progress a 1.0", "fetch a 0", "end 0", "older 0",
                    "progress d 1.0", "save d 0", "save c 14", "end 0", "older 2",
                ]
            )
        }
    }

    @Test func `a record that can't be read ends the results, and fails the request`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            async let finished: Void = peer.finish(log.fetch("a", "b", "c"))
            let call = try await peer.next()
            call.items((0, .record("a")))
            // A record with an empty ID, and fields that are none.
            let record: [UInt8] = [0x0A, 0, 0x4A, 1, 0x01]
            let item = [0x08, 1, 0x2A, UInt8(record.count)] + record
            call.items(encoded: [0x0A, UInt8(item.count)] + item)
            call.items((2, .record("c")))
            call.end()
            await finished
            #expect(log.lines == ["progress a 1.0", "fetch a 0", "end 1", "older 1"])
        }
    }

    @Test func `a list and a page of a query come whole`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let zones = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
            zones.perRecordZoneResultBlock = { log.note("zone \($0.zoneName)", $1) }
            zones.fetchRecordZonesResultBlock = { log.note("end", $0) }
            async let listed: Void = peer.finish(zones)
            let list = try await peer.next()
            for (index, name) in ["y", "x"].enumerated() {
                let id = ZoneID(zoneName: name, ownerName: "_user")
                list.items((UInt32(index), .zone(Zone(id: id, capabilities: []))))
            }
            list.end()
            await listed
            let query = CKQueryOperation(query: CKQuery(recordType: "Note", predicate: .init(value: true)))
            query.recordMatchedBlock = { log.note("match \($0.recordName)", $1) }
            query.queryResultBlock = { log.note("page", $0) }
            async let found: Void = peer.finish(query)
            let page = try await peer.next()
            page.items((0, .record("b")), (1, .record("a")))
            page.end(End(cursor: [1]))
            await found
            #expect(log.lines == ["zone y 0", "zone x 0", "end 0", "match b 0", "match a 0", "page 0"])
        }
    }

    @Test func `changes come page by page, each before its token`() async throws {
        try await ScriptedPeer.run { peer in
            let log = Transcript()
            let changes = CKFetchRecordZoneChangesOperation(recordZoneIDs: [.default])
            changes.recordWasChangedBlock = { log.note("changed \($0.recordName)", $1) }
            changes.recordWithIDWasDeletedBlock = { id, _ in log.note("deleted \(id.recordName)") }
            changes.recordZoneChangeTokensUpdatedBlock = { _, _, _ in log.note("token") }
            changes.recordZoneFetchResultBlock = { log.note("zone \($0.zoneName)", $1) }
            changes.fetchRecordZoneChangesResultBlock = { log.note("end", $0) }
            async let finished: Void = peer.finish(changes)
            let first = try await peer.next()
            first.items((0, .record("a")))
            first.items((1, .record("b")))
            first.end(End(token: [1], moreComing: true))
            let second = try await peer.next()
            let deleted = DeletedRecord(
                id: RecordID(zone: .default, recordName: "a"),
                recordType: "Note"
            )
            second.items((0, .recordDeleted(deleted)))
            second.end(End(token: [2]))
            await finished
            #expect(
                log.lines == [
                    "changed a 0", "changed b 0", "token", "deleted a", "zone _defaultZone 0", "end 0",
                ]
            )
        }
    }
}
