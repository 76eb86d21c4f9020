import CloudKit
import CloudKitTesting
import Foundation
import TestSupport
import Testing

/// Users whose data may be kept and not processed.
@Suite(.timeLimit(.minutes(10)))
struct RestrictionTests {
    @Test func `every request of a restricted user fails, until the restriction is lifted`() async throws {
        try await SharingScene.run { scene in
            let database = scene.alice.privateCloudDatabase
            let share = try await scene.shareList { $0.publicPermission = .readWrite }
            try await scene.join(share.url)
            #expect(try await scene.alice.accountStatus() == .available)
            try await scene.server.restrict("alice")
            #expect(try await scene.alice.accountStatus() == .restricted)
            await expect(.managedAccountRestricted) { _ = try await database.record(for: scene.id("list")) }
            await expect(.managedAccountRestricted) { try await database.save(CKRecordZone(zoneName: "new")) }
            await expect(.managedAccountRestricted) {
                _ = try await scene.alice.publicCloudDatabase.record(for: CKRecord.ID(recordName: "x"))
            }
            // Others go on with what is shared with them.
            let shared = scene.bob.sharedCloudDatabase
            let zone = try #require(try await shared.allRecordZones().first?.zoneID)
            let list = CKRecord.ID(recordName: "list", zoneID: zone)
            try await shared.save(scene.note("Bob's", below: list))
            try await scene.server.restart()
            await expect(.managedAccountRestricted) { _ = try await database.allRecordZones() }
            try await scene.server.restrict("alice", isRestricted: false)
            #expect(try await database.record(for: scene.id("Bob's")).recordType == "Note")
            #expect(try await scene.alice.accountStatus() == .available)
        }
    }

    @Test func `a listener hears nothing while it is restricted, and of what it missed afterwards`()
        async throws
    {
        try await SharingScene.run { scene in
            let share = try await scene.shareList { $0.publicPermission = .readWrite }
            try await scene.join(share.url)
            let database = scene.alice.privateCloudDatabase
            let subscription = CKDatabaseSubscription(subscriptionID: "all")
            subscription.notificationInfo = CKSubscription.NotificationInfo()
            try await database.save(subscription)
            let (statuses, status) = AsyncStream.makeStream(of: CKError?.self)
            var iterator = scene.alice.notifications {
                switch $0 {
                case .interrupted(let error, _): status.yield(error)
                default: status.yield(nil)
                }
            }.makeAsyncIterator()
            for await error in statuses where error == nil { break }
            try await scene.server.restrict("alice")
            for await error in statuses where error?.code == .managedAccountRestricted { break }
            let shared = scene.bob.sharedCloudDatabase
            let zone = try #require(try await shared.allRecordZones().first?.zoneID)
            try await shared.save(scene.note("Bob's", below: .init(recordName: "list", zoneID: zone)))
            try await scene.server.restrict("alice", isRestricted: false)
            for await error in statuses where error == nil { break }
            let notification = await iterator.next()
            #expect(notification?.subscriptionID == "all")
        }
    }

    @Test func `an engine keeps what a restricted user has to send, and sends it afterwards`() async throws {
        try await SyncDesk.run { desk in
            let (app, engine) = try await desk.app()
            try await desk.server.restrict("alice")
            app.write("x", to: desk.id("a"))
            await expect(.managedAccountRestricted) { try await engine.sendChanges() }
            #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(desk.id("a"))])
            await expect(.managedAccountRestricted) { try await engine.fetchChanges() }
            try await desk.server.restrict("alice", isRestricted: false)
            // The connection that was refused may still be closing.
            while (try? await desk.database.allRecordZones()) == nil {}
            try await engine.sendChanges()
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            _ = try await desk.database.record(for: desk.id("a"))
        }
    }

    @Test func `a command restricts a user, a list says so, and a running server follows`() async throws {
        let server = try ServerProcess()
        let place = ["--container", "iCloud.test.restriction"]
        try await server.administer(["container", "create", place[1]])
        let token = try await server.administer(["user", "add", "alice"] + place)
        try await server.start()
        let container = CKContainer(
            identifier: place[1],
            connection: CKServerConnection(
                url: "tidemark://localhost:\(server.port)",
                token: token,
                certificateAuthority: .file(server.authorityPath)
            )
        )
        let database = container.privateCloudDatabase
        try await database.save(CKRecordZone(zoneName: "notes"))
        #expect(try await server.administer(["user", "restrict", "alice"] + place) == "Restricted alice.")
        while try await container.accountStatus() != .restricted {}
        await expect(.managedAccountRestricted) { _ = try await database.allRecordZones() }
        #expect(try await server.administer(["user", "list"] + place).contains("restricted"))
        let lifted = try await server.administer(["user", "restrict", "alice", "--lift"] + place)
        #expect(lifted == "Lifted the restriction of alice.")
        while try await container.accountStatus() != .available {}
        #expect(try await database.allRecordZones().count == 2)
        #expect(try await !server.administer(["user", "list"] + place).contains("restricted"))
        #expect(await server.end(SIGTERM) == 0)
    }
}
