import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// `clientChangeTokenData`: what an operation keeps with the zones that it changes.
@Suite(.timeLimit(.minutes(10)))
struct ClientTokenTests {
    /// Saves and deletes records, with data to keep.
    private static func modify(
        _ database: CKDatabase,
        saving records: [CKRecord] = [],
        deleting ids: [CKRecord.ID] = [],
        keeping data: Data?
    ) async throws {
        let operation = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: ids)
        operation.clientChangeTokenData = data
        operation.savePolicy = .ifServerRecordUnchanged
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            operation.modifyRecordsResultBlock = { continuation.resume(with: $0) }
            database.add(operation)
        }
    }

    /// What comes with the changes of a zone, by each way that tells it.
    private static func kept(_ zone: CKRecordZone.ID, in database: CKDatabase) async throws -> Data? {
        let told = Collected<Data?>()
        let between = Collected<Data?>()
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(resultsLimit: 1)
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zone],
            configurationsByRecordZoneID: [zone: configuration]
        )
        operation.recordZoneChangeTokensUpdatedBlock = { between.append($2) }
        operation.recordZoneFetchCompletionBlock = { _, _, data, _, _ in told.append(data) }
        operation.recordZoneFetchResultBlock = { told.append((try? $1.get())?.clientChangeTokenData) }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            operation.fetchRecordZoneChangesResultBlock = { continuation.resume(with: $0) }
            database.add(operation)
        }
        let old = CKFetchRecordChangesOperation(recordZoneID: zone, previousServerChangeToken: nil)
        await withCheckedContinuation { continuation in
            old.fetchRecordChangesCompletionBlock = { _, data, _ in
                told.append(data)
                continuation.resume()
            }
            database.add(old)
        }
        #expect(told.values.count == 3 && Set(told.values).count == 1)
        // A page has one record: the block runs after each page but the last.
        #expect(between.values.allSatisfy { $0 == told.values[0] })
        let records = try await database.recordZoneChanges(inZoneWith: zone, since: nil)
        #expect(between.values.count == max(0, records.modificationResultsByID.count - 1))
        return told.values.last ?? nil
    }

    @Test func `a zone has the data of the last operation that changed it and had some`() async throws {
        try await Desk.run { desk in
            let other = try await desk.database.save(CKRecordZone(zoneName: "other")).zoneID
            try await Self.modify(desk.database, saving: [desk.record("a")], keeping: nil)
            #expect(try await Self.kept(desk.zone, in: desk.database) == nil)
            let most = Data(repeating: 7, count: 1_024)
            try await Self.modify(desk.database, saving: [desk.record("b")], keeping: most)
            #expect(try await Self.kept(desk.zone, in: desk.database) == most)
            try await Self.modify(desk.database, deleting: [desk.id("a")], keeping: Data("2".utf8))
            try await desk.server.restart()
            #expect(try await Self.kept(desk.zone, in: desk.database) == Data("2".utf8))
            // Nothing of it was executed: the record is there already.
            try await Self.modify(desk.database, saving: [desk.record("b")], keeping: Data("3".utf8))
            try await Self.modify(desk.database, saving: [desk.record("c")], keeping: nil)
            #expect(try await Self.kept(desk.zone, in: desk.database) == Data("2".utf8))
            #expect(try await Self.kept(other, in: desk.database) == nil)
            await expect(.invalidArguments) {
                try await Self.modify(desk.database, saving: [desk.record("d")], keeping: most + [7])
            }
            await expect(.unknownItem) { _ = try await desk.database.record(for: desk.id("d")) }
        }
    }

    @Test func `data that is saved while pages are fetched comes with the next page`() async throws {
        try await Desk.run { desk in
            let records = (0..<4).map { desk.record("r\($0)") }
            try await Self.modify(desk.database, saving: records, keeping: Data([1]))
            var told: [Data?] = []
            var token: CKServerChangeToken?
            for step: UInt8 in 2...4 {
                let page = try await Self.page(of: desk.zone, in: desk.database, after: token)
                told.append(page.clientChangeTokenData)
                token = page.serverChangeToken
                try await Self.modify(desk.database, saving: [desk.record("n\(step)")], keeping: Data([step]))
            }
            #expect(told == [Data([1]), Data([2]), Data([3])])
        }
    }

    /// A page of one change.
    private static func page(
        of zone: CKRecordZone.ID,
        in database: CKDatabase,
        after token: CKServerChangeToken?
    ) async throws -> (serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool)
    {
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
            previousServerChangeToken: token,
            resultsLimit: 1
        )
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zone],
            configurationsByRecordZoneID: [zone: configuration]
        )
        operation.fetchAllChanges = false
        return try await withCheckedThrowingContinuation { continuation in
            operation.recordZoneFetchResultBlock = { continuation.resume(with: $1) }
            database.add(operation)
        }
    }

    @Test func `the same data twice is two operations`() async throws {
        try await Desk.run { desk in
            for name in ["a", "b"] {
                try await Self.modify(desk.database, saving: [desk.record(name)], keeping: Data([1]))
            }
            _ = try await desk.database.record(for: desk.id("b"))
        }
    }

    @Test func `who takes part in a shared zone has data of their own with it`() async throws {
        try await SharingScene.run { scene in
            let alice = scene.alice.privateCloudDatabase
            try await scene.join(try await scene.shareList { $0.publicPermission = .readWrite }.url)
            let bob = scene.bob.sharedCloudDatabase
            let zone = try #require(try await bob.allRecordZones().first?.zoneID)
            let list = CKRecord.ID(recordName: "list", zoneID: zone)
            try await Self.modify(bob, saving: [scene.note("bob's", below: list)], keeping: Data([2]))
            #expect(try await Self.kept(scene.zone, in: alice) == nil)
            let note = scene.note("alice's", below: scene.id("list"))
            try await Self.modify(alice, saving: [note], keeping: Data([1]))
            #expect(try await Self.kept(scene.zone, in: alice) == Data([1]))
            #expect(try await Self.kept(zone, in: bob) == Data([2]))
        }
    }
}
