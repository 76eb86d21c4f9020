import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Change feeds through the SDK, over TLS, against the real server.
struct ChangeTests {
    private typealias Changes = (
        modificationResultsByID: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>],
        deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
    )

    private static func names(_ changes: Changes) -> Set<String> {
        Set(changes.modificationResultsByID.keys.map(\.recordName))
    }

    @Test(.timeLimit(.minutes(10)))
    func `a token leads to exactly what happened after it, over a restart of the server`() async throws {
        try await Desk.run { desk in
            let notes = (1...30).map { desk.record("note-\($0)", ["number": $0]) }
            _ = try await desk.database.modifyRecords(saving: notes, deleting: [])
            let all = try await desk.database.recordZoneChanges(inZoneWith: desk.zone, since: nil)
            #expect(Self.names(all) == Set(notes.map(\.recordID.recordName)))
            #expect(all.deletions.isEmpty && !all.moreComing)
            let now = try await desk.database.currentToken(inZoneWith: desk.zone)

            let changed = try await desk.database.record(for: desk.id("note-7"))
            changed["number"] = 70
            try await desk.database.save(changed)
            try await desk.database.deleteRecord(withID: desk.id("note-9"))
            try await desk.server.restart()
            for token in [all.changeToken, now] {
                let news = try await desk.database.recordZoneChanges(inZoneWith: desk.zone, since: token)
                #expect(Self.names(news) == ["note-7"])
                #expect(news.deletions.map(\.recordID.recordName) == ["note-9"])
                #expect(news.deletions.map(\.recordType) == ["Note"])
                let none = try await desk.database.recordZoneChanges(
                    inZoneWith: desk.zone,
                    since: news.changeToken
                )
                #expect(none.modificationResultsByID.isEmpty && none.deletions.isEmpty)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an operation fetches all pages, a parent before its children`() async throws {
        try await Desk.run { desk in
            let folder = try await desk.database.save(desk.record("folder"))
            let notes = (1...250).map { number in
                let note = desk.record("note-\(number)")
                note.setParent(folder)
                return note
            }
            _ = try await desk.database.modifyRecords(saving: notes, deleting: [])
            // The parent's last change comes after its children's.
            folder["name"] = "changed"
            try await desk.database.save(folder)

            let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [desk.zone])
            let order = Collected<String>()
            operation.recordWasChangedBlock = { id, _ in order.append(id.recordName) }
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                operation.fetchRecordZoneChangesResultBlock = { continuation.resume(with: $0) }
                desk.database.add(operation)
            }
            #expect(order.values.first == "folder")
            #expect(order.values.count == 251 && Set(order.values).count == 251)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `tokens of others and of zones that are gone have expired`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(desk.record("a"))
            let token = try await desk.database.currentToken(inZoneWith: desk.zone)
            let bob = try await desk.server.container(for: "bob").privateCloudDatabase
            let bobsZone = try await bob.save(CKRecordZone(zoneName: "desk")).zoneID
            await expect(.changeTokenExpired) {
                _ = try await bob.recordZoneChanges(inZoneWith: bobsZone, since: token)
            }
            _ = try await desk.database.deleteRecordZone(withID: desk.zone)
            _ = try await desk.database.save(CKRecordZone(zoneName: "desk"))
            await expect(.changeTokenExpired) {
                _ = try await desk.database.recordZoneChanges(inZoneWith: desk.zone, since: token)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a database's feed names zones that changed and zones that are gone`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(desk.record("a"))
            let start = try await desk.database.currentDatabaseToken()
            let other = try await desk.database.save(CKRecordZone(zoneName: "other")).zoneID
            try await desk.database.save(desk.record("b"))
            let changes = try await desk.database.databaseChanges(since: start)
            #expect(Set(changes.modifications.map(\.zoneID)) == [desk.zone, other])
            _ = try await desk.database.deleteRecordZone(withID: other)
            let later = try await desk.database.databaseChanges(since: changes.changeToken)
            #expect(later.deletions.map(\.zoneID) == [other])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a snapshot states its size at the start and ends with the token to follow on from`() async throws {
        try await Desk.run { desk in
            let notes = (1...300).map { desk.record("note-\($0)", ["number": $0]) }
            _ = try await desk.database.modifyRecords(saving: notes, deleting: [])
            var names: Set<String> = []
            var last: CKZoneSnapshot.State?
            for try await page in desk.database.zoneSnapshot(of: desk.zone, order: .newestFirst) {
                if last == nil { #expect(page.state.recordsTotal == 300) }
                names.formUnion(page.records.map(\.recordID.recordName))
                last = page.state
            }
            #expect(names.count == 300)
            #expect(last?.fractionCompleted == 1)
            let token = try #require(last?.changeToken)
            try await desk.database.save(desk.record("late"))
            let news = try await desk.database.recordZoneChanges(inZoneWith: desk.zone, since: token)
            #expect(Self.names(news) == ["late"])
        }
    }
}
