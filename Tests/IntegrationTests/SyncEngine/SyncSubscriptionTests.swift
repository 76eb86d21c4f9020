import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// How an engine hears of changes without being asked.
struct SyncSubscriptionTests {
    private func subscriptions(_ desk: SyncDesk) async throws -> [String] {
        try await desk.database.allSubscriptions().map(\.subscriptionID).sorted()
    }

    @Test(.timeLimit(.minutes(10)))
    func `an engine saves a subscription if there is none, and two save one`() async throws {
        try await SyncDesk.run { desk in
            let apps = [SyncApp(), SyncApp()]
            for app in apps { app.start(desk.database, automatically: true) }
            try await eventually { try await !self.subscriptions(desk).isEmpty }
            for app in apps {
                await eventually { app.takeLog().contains { $0.hasPrefix("didFetchChanges") } }
            }
            #expect(try await self.subscriptions(desk) == ["CKSyncEngine"])
            for app in apps { app.stop() }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an engine uses the subscription that is there, or the one it is told`() async throws {
        try await SyncDesk.run { desk in
            let subscription = CKDatabaseSubscription(subscriptionID: "mine")
            subscription.notificationInfo = CKSubscription.NotificationInfo()
            try await desk.database.save(subscription)
            for id in [nil, "mine", "another"] {
                let app = SyncApp()
                app.start(desk.database, automatically: true, subscriptionID: id)
                await eventually { app.takeLog().contains { $0.hasPrefix("didFetchChanges") } }
                // The server has one of the same definition already.
                #expect(try await self.subscriptions(desk) == ["mine"])
                app.stop()
            }
            try await desk.database.deleteSubscription(withID: "mine")
            let app = SyncApp()
            app.start(desk.database, automatically: true, subscriptionID: "another")
            await eventually { app.takeLog().contains { $0.hasPrefix("didFetchChanges") } }
            #expect(try await self.subscriptions(desk) == ["another"])
            app.stop()
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `an engine that is not to sync by itself does nothing until it is asked`() async throws {
        try await SyncDesk.run { desk in
            let app = SyncApp()
            let engine = app.start(desk.database)
            engine.state.add(pendingDatabaseChanges: [.saveZone(desk.zone)])
            await eventually { app.kept.state?.pendingDatabaseChanges.count == 1 }
            try await Task.sleep(for: .milliseconds(50))
            #expect(app.takeLog().isEmpty && app.kept.accounts.isEmpty)
            #expect(try await self.subscriptions(desk).isEmpty)
        }
    }
}
