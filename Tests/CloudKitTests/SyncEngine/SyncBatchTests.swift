import Foundation
import Testing

@testable import CloudKit

struct SyncBatchTests {
    private typealias Batch = CKSyncEngine.RecordZoneChangeBatch

    private func id(_ name: String, in zone: String = "Z") -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: CKRecordZone.ID(zoneName: zone))
    }

    private func record(_ name: String, in zone: String = "Z") -> CKRecord {
        CKRecord(recordType: "Note", recordID: self.id(name, in: zone))
    }

    @Test func `a batch takes as many changes as a request, and leaves out what has no record`() async {
        let saves = (0..<500).map { CKSyncEngine.PendingRecordZoneChange.saveRecord(self.id("\($0)")) }
        let changes = [.deleteRecord(self.id("gone"))] + saves
        let batch = await Batch(pendingChanges: changes) { id in
            id.recordName == "3" ? nil : CKRecord(recordType: "Note", recordID: id)
        }
        #expect(batch?.count == 400)
        #expect(batch?.recordIDsToDelete == [self.id("gone")])
        #expect(batch?.recordsToSave.map(\.recordID.recordName).prefix(4) == ["0", "1", "2", "4"])
        #expect(batch?.atomicByZone == false)
    }

    @Test func `a record that was not asked for is left out`() async {
        let batch = await Batch(
            pendingChanges: [.saveRecord(self.id("a")), .saveRecord(self.id("b"))]
        ) { id in
            self.record(id.recordName == "a" ? "made up" : "b")
        }
        #expect(batch?.recordsToSave.map(\.recordID) == [self.id("b")])
    }

    @Test func `nothing to send is no batch`() async {
        #expect(await Batch(pendingChanges: [], recordProvider: { _ in nil }) == nil)
        #expect(await Batch(pendingChanges: [.saveRecord(self.id("a"))], recordProvider: { _ in nil }) == nil)
    }

    @Test func `a batch takes no more bytes than a request`() async {
        let changes = (0..<10).map { CKSyncEngine.PendingRecordZoneChange.saveRecord(self.id("\($0)")) }
        let batch = await Batch(pendingChanges: changes) { id in
            let record = CKRecord(recordType: "Note", recordID: id)
            record["data"] = Data(repeating: 1, count: 500_000)
            return record
        }
        #expect(batch?.count == 4)
        let large = await Batch(pendingChanges: changes) { id in
            let record = CKRecord(recordType: "Note", recordID: id)
            record["data"] = Data(repeating: 1, count: 3_000_000)
            return record
        }
        #expect(large?.count == 1)
        let lists = await Batch(pendingChanges: changes) { id in
            let record = CKRecord(recordType: "Note", recordID: id)
            record["title"] = "a list"
            record["numbers"] = Array(repeating: Int.max, count: 50_000)
            return record
        }
        #expect(lists?.count == 4)
    }

    @Test func `halves are all of it, saves before deletions`() throws {
        let batch = Batch(
            recordsToSave: [self.record("a"), self.record("b"), self.record("c")],
            recordIDsToDelete: [self.id("d"), self.id("e")]
        )
        let halves = try #require(batch.halves)
        #expect(halves.map { $0.recordsToSave.map(\.recordID.recordName) } == [["a", "b", "c"], []])
        #expect(halves.map { $0.recordIDsToDelete.map(\.recordName) } == [[], ["d", "e"]])
        #expect(Batch(recordsToSave: [self.record("a")]).halves == nil)
    }

    @Test func `an atomic batch is divided between zones alone`() throws {
        let batch = Batch(
            recordsToSave: [self.record("a", in: "X"), self.record("b", in: "Y"), self.record("c", in: "X")],
            recordIDsToDelete: [self.id("d", in: "Y")],
            atomicByZone: true
        )
        let halves = try #require(batch.halves)
        #expect(halves.map { $0.recordsToSave.map(\.recordID.recordName) } == [["a", "c"], ["b"]])
        #expect(halves.map { $0.recordIDsToDelete.map(\.recordName) } == [[], ["d"]])
        #expect(halves.allSatisfy { $0.atomicByZone && $0.halves == nil })
    }

    @Test(arguments: [
        (CKError.Code.zoneBusy, false), (.requestRateLimited, false), (.serverResponseLost, false),
        (.notAuthenticated, false), (.batchRequestFailed, true), (.operationCancelled, false),
        (.serverRecordChanged, true), (.zoneNotFound, true), (.unknownItem, true), (.quotaExceeded, true),
        (.invalidArguments, true), (.internalError, true),
    ])
    func `a change that failed temporarily is pending again, and any other is left to the app`(
        code: CKError.Code,
        isSettled: Bool
    ) {
        var results = SyncServer.RecordResults()
        results.add(.value(self.id("a"), .failure(CKError(code))))
        results.add(.deletion(self.id("b"), .success(())))
        let batch = Batch(recordsToSave: [self.record("a")], recordIDsToDelete: [self.id("b")])
        let answers = SentRecords(batch, results)
        #expect(answers.settled.contains(.saveRecord(self.id("a"))) == isSettled)
        #expect(answers.unsettled.contains(.saveRecord(self.id("a"))) != isSettled)
        #expect((answers.failures[self.id("a")] as? CKError)?.code == code)
        #expect(answers.settled.contains(.deleteRecord(self.id("b"))))
        #expect(answers.event.failedRecordSaves.map(\.error.code) == [code])
        #expect(answers.event.deletedRecordIDs == [self.id("b")])
    }

    @Test(arguments: [
        (CKError.Code.internalError, false), (.incompatibleVersion, false), (.badContainer, false),
        (.serviceUnavailable, false), (.invalidArguments, true), (.limitExceeded, true),
    ])
    func `a request that fails as a whole for no fault of its items has them pending again`(
        code: CKError.Code,
        isSettled: Bool
    ) {
        let answers = SentRecords(Batch(recordsToSave: [self.record("a")]), CKError(code))
        #expect(answers.settled.isEmpty != isSettled && answers.unsettled.isEmpty == isSettled)
        let zones = SentZones([.saveZone(CKRecordZone(zoneName: "Z"))], CKError(code))
        #expect(zones.settled.isEmpty != isSettled && zones.unsettled.isEmpty == isSettled)
    }

    @Test func `a change that was never pending does not wait for others, but is told as failed`() {
        var results = SyncServer.RecordResults()
        for name in ["a", "b"] {
            results.add(.value(self.id(name), .failure(CKError(.referenceViolation))))
        }
        var answers = SentRecords(Batch(recordsToSave: ["a", "b"].map { self.record($0) }), results)
        let zone = CKRecordZone.ID(zoneName: "Z")
        let deferred = answers.deferReferences(inZones: [zone], of: [.saveRecord(self.id("a"))])
        #expect(deferred == [.saveRecord(self.id("a"))])
        #expect(answers.settled == [.saveRecord(self.id("b"))])
        #expect(answers.event.failedRecordSaves.map(\.record.recordID) == [self.id("b")])
        #expect(Array(answers.failures.keys) == [AnyHashable(self.id("b"))])
    }

    @Test func `a share is in one batch with its root, and in one half`() async throws {
        let root = self.record("root")
        let share = CKShare(rootRecord: root, shareID: self.id("share"))
        let others = (0..<400).map { self.record("n\($0)") }
        let records = Dictionary(
            uniqueKeysWithValues: ([root, share] + others).map { ($0.recordID, $0) }
        )
        for pair in [[root, share], [share, root]] {
            let order = [pair[0]] + others + [pair[1]]
            let changes = order.map { CKSyncEngine.PendingRecordZoneChange.saveRecord($0.recordID) }
            let first = try #require(await Batch(pendingChanges: changes) { records[$0] })
            #expect(first.recordsToSave.map(\.recordID) == others.prefix(399).map(\.recordID))
            let rest = changes.filter { !first.changes.contains($0) }
            let second = try #require(await Batch(pendingChanges: rest) { records[$0] })
            #expect(second.count == 3)
            // What the app does not give is not waited for.
            let alone = await Batch(pendingChanges: rest) { $0 == pair[1].recordID ? nil : records[$0] }
            #expect(alone?.count == 2)
        }
        for order in [
            [root, others[0], share], [others[0], root, others[1], share], [share, others[0], root],
        ] {
            let halves = try #require(Batch(recordsToSave: order).halves)
            let whole = halves.filter { half in
                let ids = half.recordsToSave.map(\.recordID)
                return ids.contains(root.recordID) && ids.contains(share.recordID)
            }
            #expect(whole.count == 1)
            #expect(halves.allSatisfy { $0.count > 0 })
            #expect(halves.map(\.count).reduce(0, +) == order.count)
        }
        #expect(Batch(recordsToSave: [share, root]).halves == nil)
    }

    @Test func `the longest pause is waited for`() {
        var results = SyncServer.RecordResults()
        for (name, seconds) in [("a", 3.0), ("b", 9.0), ("c", 1.0)] {
            let error = CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: NSNumber(value: seconds)])
            results.add(.value(self.id(name), .failure(error)))
        }
        let answers = SentRecords(Batch(recordsToSave: ["a", "b", "c"].map { self.record($0) }), results)
        #expect(answers.later?.retryAfterSeconds == 9)
        #expect(answers.unsettled.count == 3)
    }

    @Test func `a pause is never shorter than what the server said`() {
        for (seconds, milliseconds) in [
            (0.0, 0), (0.0001, 1), (1.0, 1_000), (1.0005, 1_001), (9_999.0, 3_600_000), (-1.0, 0),
        ] {
            let error = CKError(
                .requestRateLimited,
                userInfo: [CKErrorRetryAfterKey: NSNumber(value: seconds)]
            )
            #expect(error.pause == .milliseconds(milliseconds), "\(seconds)")
        }
        #expect(CKError(.requestRateLimited).pause == nil)
    }

    @Test func `batches, failures and configurations describe themselves`() {
        let batch = Batch(recordsToSave: [self.record("a")], recordIDsToDelete: [self.id("b")])
        #expect("\(batch)" == "save=[Z/a], delete=[Z/b], atomicByZone=false")
        let zone = CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave(
            zone: CKRecordZone(zoneName: "Z"),
            error: CKError(.quotaExceeded)
        )
        #expect("\(zone)" == "Z: quotaExceeded")
        let record = CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave(
            record: self.record("a"),
            error: CKError(.unknownItem)
        )
        #expect("\(record)" == "Z/a: unknownItem")
        #expect(Set([CKSyncEngine.SyncReason.manual, .scheduled, .manual]).count == 2)
    }

    @Test func `scopes contain what they say`() {
        let (x, y) = (CKRecordZone.ID(zoneName: "X"), CKRecordZone.ID(zoneName: "Y"))
        typealias Fetch = CKSyncEngine.FetchChangesOptions.Scope
        typealias Send = CKSyncEngine.SendChangesOptions.Scope
        #expect(Fetch.all.contains(x) && Fetch.zoneIDs([x]).contains(x) && !Fetch.zoneIDs([x]).contains(y))
        #expect(!Fetch.allExcluding([x]).contains(x) && Fetch.allExcluding([x]).contains(y))
        let record = self.id("a", in: "X")
        #expect(Send.all.contains(record) && Send.recordIDs([record]).contains(.saveRecord(record)))
        #expect(!Send.recordIDs([record]).contains(self.id("b", in: "X")))
        #expect(Send.zoneIDs([x]).contains(.deleteRecord(record)) && !Send.zoneIDs([y]).contains(record))
        #expect(!Send.allExcluding([x]).contains(record) && Send.allExcluding([y]).contains(record))
        #expect(Send.recordIDs([record]).contains(zone: x) && !Send.recordIDs([record]).contains(zone: y))
    }
}
