import Foundation
import RecordModel
import Testing

@testable import CloudKit

struct SyncStateTests {
    private let zone = CKRecordZone.ID(zoneName: "Z")
    private let other = CKRecordZone.ID(zoneName: "Y", ownerName: "_somebody")

    private func token(_ text: String) -> CKServerChangeToken { CKServerChangeToken(bytes: Array(text.utf8)) }

    private func filled() -> SyncState {
        var state = SyncState()
        state.change(to: "_me")
        state.adopt("container/development/private")
        state.databasePage(changed: [self.zone, self.other], deleted: [], token: self.token("d1"))
        state.zonePage(self.zone, token: self.token("z1"), isLast: true)
        state.zoneTokenExpired(self.other)
        state.add([.deleteZone(self.zone), .saveZone(CKRecordZone(zoneName: "new"))])
        state.add([
            .saveRecord(CKRecord.ID(recordName: "a", zoneID: self.zone)),
            .deleteRecord(CKRecord.ID(recordName: "b", zoneID: self.other)),
        ])
        state.setUntracked(true)
        return state
    }

    @Test func `a stored state is restored, from JSON and from a property list`() throws {
        let state = self.filled()
        let kept = CKSyncEngine.State.Serialization(state)
        let json = try JSONDecoder().decode(
            CKSyncEngine.State.Serialization.self,
            from: JSONEncoder().encode(kept)
        ).content
        let list = try PropertyListDecoder().decode(
            CKSyncEngine.State.Serialization.self,
            from: PropertyListEncoder().encode(kept)
        ).content
        for read in [json, list] {
            #expect(read.user == "_me")
            #expect(read.home == "container/development/private")
            #expect(read.databaseToken == self.token("d1"))
            #expect(read.zones == state.zones)
            #expect(read.records.changes == state.records.changes)
            #expect(read.zoneChanges.changes == state.zoneChanges.changes)
            #expect(read.hasUntrackedChanges)
            #expect(read.zonesBehind == [self.other])
        }
    }

    @Test func `one state is one text`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let texts = try (0..<2).map { _ in
            try encoder.encode(CKSyncEngine.State.Serialization(self.filled()))
        }
        #expect(texts[0] == texts[1])
    }

    @Test(arguments: [
        #"{"version":2}"#, "{}", #"{"version":1}"#,
        #"{"version":1,"databaseStartsAnew":false,"zones":[],"zoneChanges":[],"hasUntrackedChanges":false,"#
            + #""records":[{"zone":0,"name":"a","isDeletion":false}]}"#,
        #"{"version":1,"databaseStartsAnew":false,"zones":[],"zoneChanges":[],"hasUntrackedChanges":false,"#
            + #""records":[],"databaseToken":""}"#,
    ])
    func `a state that is damaged or of a later version is refused, not misread`(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: Data(text.utf8))
        }
    }

    @Test func `a zone that starts anew has no token until it is through`() {
        var state = self.filled()
        state.zonePage(self.other, token: self.token("o1"), isLast: false)
        #expect(state.zones[self.other] == .init(token: nil, isBehind: true, startsAnew: true))
        state.zonePage(self.other, token: self.token("o2"), isLast: true)
        #expect(state.zones[self.other] == .init(token: self.token("o2"), isBehind: false, startsAnew: false))
    }

    @Test func `a zone that was missing starts anew when it is there again`() {
        var state = self.filled()
        state.zoneMissing(self.zone)
        #expect(!state.zonesBehind.contains(self.zone))
        state.databasePage(changed: [self.zone], deleted: [], token: self.token("d2"))
        #expect(state.zones[self.zone] == .init(token: nil, isBehind: true, startsAnew: true))
        state.databasePage(changed: [], deleted: [self.zone], token: self.token("d3"))
        #expect(state.zones[self.zone] == nil)
    }

    private let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(
        CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Z"))
    )

    @Test func `pending changes of one user are not sent for another user`() throws {
        for users: [String?] in [["_other"], [nil, "_other"], [nil, "_me"]] {
            var state = self.filled()
            let revision = state.revision
            for user in users {
                state.add([self.change])
                state.change(to: user)
            }
            #expect(state.user == users.last)
            #expect(state.databaseToken == nil && state.zones.isEmpty && !state.hasPending)
            #expect(state.revision > revision)
        }
        var state = self.filled()
        state.change(to: nil)
        state.add([self.change])
        let data = try JSONEncoder().encode(CKSyncEngine.State.Serialization(state))
        var read = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data).content
        #expect(read.records.changes == [self.change])
        read.change(to: "_other")
        #expect(!read.hasPending)
    }

    @Test func `changes from before the first sign-in belong to the first user`() {
        var state = SyncState()
        state.add([self.change])
        state.change(to: "_me")
        #expect(state.records.changes == [self.change])
    }

    // MARK: On their way

    @Test func `a change in flight is not pending, but is in the stored state`() throws {
        var state = SyncState()
        state.add([.saveZone(CKRecordZone(zoneID: self.zone))])
        state.add([self.change])
        let revision = state.revision
        let zones = state.takeZones(countMax: 400) { _ in true }
        state.take([self.change], asOf: state.records.stamp)
        #expect(zones.count == 1 && !state.hasPending && state.revision == revision)
        let data = try JSONEncoder().encode(CKSyncEngine.State.Serialization(state))
        let read = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data).content
        #expect(read.records.changes == [self.change])
        #expect(read.zoneChanges.changes == zones)
        state.settle([self.change])
        state.settle(zones)
        #expect(state.revision == revision + 2)
        #expect(CKSyncEngine.State.Serialization(state).pendingRecordZoneChanges == [])
        #expect(CKSyncEngine.State.Serialization(state).pendingDatabaseChanges == [])
    }

    @Test func `a change that failed temporarily is pending again, first, unless it was replaced or removed`()
    {
        func save(_ name: String) -> CKSyncEngine.PendingRecordZoneChange {
            .saveRecord(CKRecord.ID(recordName: name, zoneID: self.zone))
        }
        var state = SyncState()
        state.add(["a", "b", "c", "d", "e"].map(save))
        state.take(["a", "b", "c", "d"].map(save), asOf: state.records.stamp)
        let deletion = CKSyncEngine.PendingRecordZoneChange.deleteRecord(
            CKRecord.ID(recordName: "b", zoneID: self.zone)
        )
        state.add([deletion])
        state.remove([save("c")])
        #expect(
            CKSyncEngine.State.Serialization(state).pendingRecordZoneChanges == [
                save("a"), save("d"), save("e"), deletion,
            ]
        )
        state.putBack(["a", "b", "c", "d"].map(save))
        #expect(state.records.changes == [save("a"), save("d"), save("e"), deletion])
        #expect(state.recordsInFlight == [])
        state.remove([save("d")])
        #expect(state.records.changes == [save("a"), save("e"), deletion])
    }

    @Test func `what the delegate asks for while it makes a batch is sent with it and once more`() {
        var state = SyncState()
        state.add([self.change])
        let stamp = state.records.stamp
        state.add([self.change])
        state.take([self.change], asOf: stamp)
        #expect(state.records.changes == [self.change])
    }
}
