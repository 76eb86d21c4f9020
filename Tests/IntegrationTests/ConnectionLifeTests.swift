import CloudKit
import CloudKitTesting
import Foundation
import TestSupport
import Testing

/// How long connections stay open.
@Suite(.timeLimit(.minutes(10))) struct ConnectionLifeTests {
    private static func container(_ connection: CKServerConnection) -> CKContainer {
        CKContainer(identifier: TestServer.defaultContainerIdentifier, connection: connection)
    }

    /// Waits until as many connections are open: one of them is the desk's.
    private static func wait(for count: Int, _ desk: Desk) async {
        await until { desk.server.openConnections == count }
    }

    @Test func `a connection closes when its last container was released, and another one connects again`()
        async throws
    {
        try await Desk.run { desk in
            var connection = try await desk.server.connection(for: "bob")
            connection.lingerSeconds = 0
            let kept = Self.container(connection)
            _ = try await kept.userRecordID()
            for _ in 0..<3 { _ = try await Self.container(connection).userRecordID() }
            #expect(desk.server.openConnections == 2, "\(kept)")
            for _ in 0..<2 {
                try await self.useOnce(connection, "carol", desk)
                await Self.wait(for: 2, desk)
            }
            _ = try await kept.userRecordID()
            #expect(desk.server.openConnections == 2)
        }
    }

    private func useOnce(_ connection: CKServerConnection, _ user: String, _ desk: Desk) async throws {
        var other = connection
        other.token = try await desk.server.connection(for: user).token
        _ = try await Self.container(other).userRecordID()
    }

    @Test func `a request keeps its connection when its container is released`() async throws {
        try await Desk.run { desk in
            var connection = try await desk.server.connection(for: "bob")
            connection.lingerSeconds = 0
            for number in 0..<20 {
                let error = await withCheckedContinuation { continuation in
                    let database = Self.container(connection).privateCloudDatabase
                    database.fetch(withRecordID: CKRecord.ID(recordName: "none-\(number)")) { _, error in
                        continuation.resume(returning: error)
                    }
                }
                #expect((error as? CKError)?.code == .unknownItem, "\(String(describing: error))")
            }
            await Self.wait(for: 1, desk)
        }
    }

    @Test func `close ends a connection in every container, and a later container connects again`()
        async throws
    {
        try await Desk.run { desk in
            let connection = try await desk.server.connection(for: "bob")
            let containers = [Self.container(connection), Self.container(connection)]
            for container in containers { _ = try await container.userRecordID() }
            await connection.close()
            await Self.wait(for: 1, desk)
            for container in containers {
                let error = await thrown { _ = try await container.privateCloudDatabase.allRecordZones() }
                #expect(error?.code == .networkUnavailable, "\(String(describing: error))")
            }
            _ = try await Self.container(connection).userRecordID()
        }
    }
}
