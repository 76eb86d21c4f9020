import Foundation
import RecordModel
import Testing
import WireProtocol

@testable import CloudKit

@Suite(.timeLimit(.minutes(10))) struct DatabaseChangesOperationTests {
    private func changed(_ name: String) -> ItemOutcome { .zoneChanged(ZoneID(zoneName: name)) }
    private func deleted(_ name: String) -> ItemOutcome { .zoneDeleted(ZoneID(zoneName: name)) }

    private func transcript(_ operation: ScriptedDatabaseChanges) async -> [String] {
        let events = Events()
        operation.recordZoneWithIDChangedBlock = { events.note("changed \($0.zoneName) \($0.ownerName)") }
        operation.recordZoneWithIDWasDeletedBlock = { events.note("deleted \($0.zoneName)") }
        operation.recordZoneWithIDWasPurgedBlock = { _ in events.note("must not be called") }
        operation.changeTokenUpdatedBlock = { events.note("token \($0.text)") }
        operation.fetchDatabaseChangesResultBlock = { result in
            switch result {
            case .success(let (token, moreComing)): events.note("ends \(token.text) \(moreComing)")
            case .failure(let error): events.note("fails \(code(error))")
            }
        }
        operation.fetchDatabaseChangesCompletionBlock = { token, moreComing, error in
            events.note("completes \(token?.text ?? "nil") \(moreComing) \(code(error))")
        }
        await operation.finish()
        return events.all
    }

    @Test func `zones come first, the token between pages and never after the last`() async {
        let operation = ScriptedDatabaseChanges([
            .items([changed("a"), deleted("b")], token: "1", moreComing: true),
            .items([changed("c")], token: "2"),
        ])
        operation.previousServerChangeToken = CKServerChangeToken("0")
        let lines = await self.transcript(operation)
        #expect(
            lines == [
                "changed a __defaultOwner__", "deleted b", "token 1", "changed c __defaultOwner__",
                "ends 2 false", "completes 2 false 0",
            ]
        )
        #expect(operation.feed.requests == ["database@0", "database@1"])
    }

    @Test func `without fetchAllChanges there is one page`() async {
        let operation = ScriptedDatabaseChanges([.items([changed("a")], token: "1", moreComing: true)])
        operation.fetchAllChanges = false
        let lines = await self.transcript(operation)
        #expect(lines == ["changed a __defaultOwner__", "ends 1 true", "completes 1 true 0"])
    }

    @Test func `an expired token is the operation's own error`() async {
        let lines = await self.transcript(ScriptedDatabaseChanges([.failure(.changeTokenExpired)]))
        #expect(lines == ["fails 21", "completes nil false 21"])
    }

    @Test func `the deprecated operation fetches one page of one zone`() async {
        let feed = ScriptedFeed([
            "a": [.items([saved("r", in: "a"), gone("s", in: "a")], token: "1", moreComing: true)]
        ])
        let operation = CKFetchRecordChangesOperation(
            recordZoneID: CKRecordZone.ID(zoneName: "a"),
            previousServerChangeToken: CKServerChangeToken("0")
        )
        operation.database = CKContainer.unreachable().privateCloudDatabase
        let events = Events()
        operation.recordChangedBlock = { events.note("changed \($0.recordID.recordName)") }
        operation.recordWithIDWasDeletedBlock = { events.note("deleted \($0.recordName)") }
        operation.fetchRecordChangesCompletionBlock = { [unowned operation] token, _, error in
            events.note("completes \(token?.text ?? "nil") \(operation.moreComing) \(code(error))")
        }
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            operation.fetchChanges(from: feed.zones)
        }
        #expect(events.all == ["changed r", "deleted s", "completes 1 true 0"])
        #expect(feed.requests == ["a@0"])
    }

    @Test func `the deprecated operation needs a zone`() async {
        let operation = CKFetchRecordChangesOperation()
        operation.database = CKContainer.unreachable().privateCloudDatabase
        let events = Events()
        operation.fetchRecordChangesCompletionBlock = { events.note("\($0 == nil) \(code($2))") }
        await operation.finish()
        #expect(events.all == ["true 12"])
    }
}
