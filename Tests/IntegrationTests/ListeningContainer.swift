import CloudKit
import CloudKitTesting

extension CKContainer {
    /// The notifications from now on: the server has said that it listens.
    func listening() async -> CKNotificationStream.Iterator {
        let (statuses, status) = AsyncStream.makeStream(of: Void.self)
        let iterator = self.notifications { if case .listening = $0 { status.yield() } }
            .makeAsyncIterator()
        for await _ in statuses { break }
        return iterator
    }
}

extension Desk {
    /// A container of the same user with a connection of its own.
    func otherContainer() async throws -> CKContainer {
        var connection = try await self.server.connection(for: "alice")
        // Equal connections are shared.
        guard case .pem(let authority) = connection.certificateAuthority else { throw ListenerProcessError() }
        connection.certificateAuthority = .pem(authority + "\n")
        return CKContainer(identifier: TestServer.defaultContainerIdentifier, connection: connection)
    }
}
