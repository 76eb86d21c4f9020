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
        state.signIn("_me")
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

    @Test func `what is kept comes back, from JSON and from a property list`() throws {
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

    @Test func `another user gets nothing, and what was sent for the first settles nothing of his`() {
        var state = self.filled()
        let change = CKSyncEngine.PendingRecordZoneChange.saveRecord(
            CKRecord.ID(recordName: "a", zoneID: self.zone)
        )
        let moment = state.moment
        let revision = state.revision
        state.reset(to: "_other")
        #expect(
            state.user == "_other" && state.databaseToken == nil && state.zones.isEmpty && !state.hasPending
        )
        #expect(state.revision > revision)
        state.add([change])
        state.settle([change], asOf: moment.records)
        #expect(state.records.changes == [change])
    }

    @Test func `untracked changes that come while the delegate is asked are asked for again`() {
        var state = SyncState()
        state.setUntracked(true)
        let moment = state.moment
        state.setUntracked(true)
        state.untrackedAreSent(asOf: moment)
        #expect(state.hasUntrackedChanges)
        state.untrackedAreSent(asOf: state.moment)
        #expect(!state.hasUntrackedChanges)
    }
}
