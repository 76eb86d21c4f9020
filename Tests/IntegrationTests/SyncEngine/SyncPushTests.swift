import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Devices that tell each other through the server.
struct SyncPushTests {
    @Test(.timeLimit(.minutes(10)))
    func `what one device writes the other has, and nobody asks`() async throws {
        try await SyncDesk.run { desk in
            // Another address of the server is another connection, as another device has one.
            var connection = try await desk.server.connection(for: "alice")
            connection.url = connection.url.replacingOccurrences(of: "localhost", with: "127.0.0.1")
            let other = CKContainer(
                identifier: TestServer.defaultContainerIdentifier,
                connection: connection
            ).privateCloudDatabase
            let (here, there) = (SyncApp(), SyncApp())
            let engine = here.start(desk.database, automatically: true)
            there.start(other, automatically: true)
            engine.state.add(pendingDatabaseChanges: [.saveZone(desk.zone)])
            here.write("one", to: desk.id("a"))
            await eventually { there.texts == ["a": "one"] }
            there.write("longer", to: desk.id("a"))
            there.write("two", to: desk.id("b"))
            await eventually { here.texts == ["a": "longer", "b": "two"] }
            here.erase(desk.id("b"))
            await eventually { there.texts == ["a": "longer"] }
            #expect(here.takeLog().contains("willFetchChanges(reason=scheduled, scope=all, prioritized=[])"))

            // A server that was away: what changed meanwhile comes too.
            try await desk.server.restart()
            here.write("longest of all", to: desk.id("a"))
            await eventually { there.texts == ["a": "longest of all"] }
            here.stop()
            there.stop()
            await connection.close()
        }
    }
}
