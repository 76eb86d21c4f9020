import CloudKit
import CloudKitTesting
import Foundation
import Synchronization
import Testing

/// Whether a client has everything, through the SDK, against the real server.
struct NewsTests {
    @Test(.timeLimit(.minutes(10)))
    func `a token of a zone is current until something is saved or deleted`() async throws {
        try await Desk.run { desk in
            let database = desk.database
            #expect(try await database.isCurrent(nil, inZoneWith: desk.zone))
            try await database.save(desk.record("a", ["text": "x"]))
            #expect(try await !database.isCurrent(nil, inZoneWith: desk.zone))

            var token = try await database.recordZoneChanges(inZoneWith: desk.zone, since: nil).changeToken
            #expect(try await database.isCurrent(token, inZoneWith: desk.zone))
            try await database.save(desk.record("b"))
            #expect(try await !database.isCurrent(token, inZoneWith: desk.zone))
            token = try await database.recordZoneChanges(inZoneWith: desk.zone, since: token).changeToken
            try await database.deleteRecord(withID: desk.id("a"))
            try await desk.server.restart()
            #expect(try await !database.isCurrent(token, inZoneWith: desk.zone))
            token = try await database.recordZoneChanges(inZoneWith: desk.zone, since: token).changeToken
            #expect(try await database.isCurrent(token, inZoneWith: desk.zone))
            // To ask is to read nothing: the next fetch has what came after the token.
            try await database.save(desk.record("c"))
            #expect(try await !database.isCurrent(token, inZoneWith: desk.zone))
            let news = try await database.recordZoneChanges(inZoneWith: desk.zone, since: token)
            #expect(news.modificationResultsByID.keys.map(\.recordName) == ["c"])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a token of the database is current until a zone is made, changed or deleted`() async throws {
        try await Desk.run { desk in
            let database = desk.database
            #expect(try await !database.isCurrent(nil))
            var token = try await database.databaseChanges(since: nil).changeToken
            #expect(try await database.isCurrent(token))
            let other = try await database.save(CKRecordZone(zoneName: "other"))
            #expect(try await !database.isCurrent(token))
            token = try await database.databaseChanges(since: token).changeToken
            try await database.save(desk.record("a"))
            #expect(try await !database.isCurrent(token))
            token = try await database.databaseChanges(since: token).changeToken
            try await database.deleteRecordZone(withID: other.zoneID)
            #expect(try await !database.isCurrent(token))
            token = try await database.databaseChanges(since: token).changeToken
            #expect(try await database.isCurrent(token))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a zone that is gone has no news, and says so`() async throws {
        try await Desk.run { desk in
            let token = try await desk.database.currentToken(inZoneWith: desk.zone)
            try await desk.database.deleteRecordZone(withID: desk.zone)
            await expect(.zoneNotFound) {
                _ = try await desk.database.isCurrent(token, inZoneWith: desk.zone)
            }
            try await desk.database.save(CKRecordZone(zoneName: "desk"))
            await expect(.changeTokenExpired) {
                _ = try await desk.database.isCurrent(token, inZoneWith: desk.zone)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a task waits until another has fetched`() async throws {
        try await Desk.run { desk in
            let (database, zone) = (desk.database, desk.zone)
            let applied = Mutex<CKServerChangeToken?>(try await database.currentToken(inZoneWith: zone))
            try await database.save(desk.record("a"))
            let isCurrent = try await database.waitUntilCurrent(inZoneWith: zone, timeout: .milliseconds(300))
            {
                applied.withLock { $0 }
            }
            #expect(!isCurrent)

            let asked = Mutex(0)
            async let waited = database.waitUntilCurrent(inZoneWith: zone, timeout: .seconds(600)) {
                asked.withLock { $0 += 1 }
                return applied.withLock { $0 }
            }
            await eventually { asked.withLock { $0 } > 2 }
            let since = applied.withLock { $0 }
            let page = try await database.recordZoneChanges(inZoneWith: zone, since: since)
            applied.withLock { $0 = page.changeToken }
            #expect(try await waited)

            let all = try await database.databaseChanges(since: nil).changeToken
            #expect(try await database.waitUntilCurrent(timeout: .seconds(600)) { all })
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a wait outlives errors that pass, and ends with those that stay`() async throws {
        try await Desk.run { desk in
            let token = try await desk.database.currentToken(inZoneWith: desk.zone)
            desk.server.faults.add(.fetchChanges(.next), .rateLimited(retryAfter: 0.05))
            #expect(
                try await desk.database.waitUntilCurrent(inZoneWith: desk.zone, timeout: .seconds(600)) {
                    token
                }
            )
            try await desk.database.deleteRecordZone(withID: desk.zone)
            await expect(.zoneNotFound) {
                _ = try await desk.database.waitUntilCurrent(
                    inZoneWith: desk.zone,
                    timeout: .seconds(600)
                ) { token }
            }
        }
    }
}
