import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Notifications through the SDK, over TLS, against the real server.
@Suite(.timeLimit(.minutes(10)))
struct NotificationTests {
    @Test
    func `changes of one connection are told to another, in order, and not to itself`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(
                CKQuerySubscription(
                    recordType: "Note",
                    predicate: NSPredicate(value: true),
                    subscriptionID: "notes",
                    options: [.firesOnRecordCreation, .firesOnRecordDeletion]
                )
            )
            let told = Collected<String>()
            var others = try await desk.otherContainer().listening()
            var own = await desk.container.listening()
            let ownTask = Task { while await own.next() != nil { told.append("own") } }
            for name in ["a", "b", "c"] { try await desk.database.save(desk.record(name)) }
            try await desk.database.deleteRecord(withID: desk.id("b"))
            while told.values.count < 4, let notification = await others.next() {
                let query = try #require(notification as? CKQueryNotification)
                told.append("\(query.queryNotificationReason.rawValue) \(query.recordID?.recordName ?? "?")")
                #expect(query.subscriptionID == "notes" && query.commitDate != nil)
            }
            #expect(told.values == ["1 a", "1 b", "1 c", "3 b"])
            ownTask.cancel()
            await ownTask.value
        }
    }

    @Test
    func `hundreds of changes reach a consumer that is slow, at least as news of the last`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(CKRecordZoneSubscription(zoneID: desk.zone, subscriptionID: "desk"))
            var notifications = try await desk.otherContainer().listening()
            for number in 1...200 { try await desk.database.save(desk.record("n\(number)")) }
            var token: CKServerChangeToken?
            var names: Set<String> = []
            var count = 0
            while names.count < 200, await notifications.next() != nil {
                count += 1
                let page = try await desk.database.recordZoneChanges(inZoneWith: desk.zone, since: token)
                names.formUnion(page.modificationResultsByID.keys.map(\.recordName))
                token = page.changeToken
            }
            #expect(names.count == 200)
            #expect(count <= 200)
        }
    }
}
