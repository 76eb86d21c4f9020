private import RecordClient
private import Synchronization

/// One connection for each container and configuration, however many `CKContainer` objects there
/// are.
///
/// - Bounds: As many as there are different containers and connections in the process. They are
///   kept until `close(_:)`, because published code makes a `CKContainer` for each use.
enum SharedSessions {
    private struct Key: Hashable {
        var identifier: String
        var connection: CKServerConnection
    }

    private static let sessions = Mutex<[Key: ServerAccess.Session]>([:])

    static func session(
        identifier: String,
        connection: CKServerConnection
    ) throws(CKError) -> ServerAccess.Session {
        let key = Key(identifier: identifier, connection: connection)
        if let session = self.sessions.withLock({ $0[key] }) { return session }
        let configuration = try connection.clientConfiguration(container: identifier)
        return self.sessions.withLock { sessions in
            if let session = sessions[key] { return session }
            let client = RecordClient(configuration: configuration)
            let isSignedIn = configuration.credential.isSignedIn
            let signIn = SignInAnswer()
            let session = ServerAccess.Session(
                client: client,
                isSignedIn: isSignedIn,
                user: UserName(),
                signIn: signIn,
                gate: connection.schema.map { SchemaGate(schema: $0) },
                notifications: NotificationHub(signIn: isSignedIn ? signIn : nil) { client.listen($0) },
                ledgers: connection.ledgers(
                    of: identifier,
                    at: ShareURL.address(host: configuration.host, port: configuration.port)
                ),
                cache: AssetCache.at(
                    connection.cacheFolder ?? AssetCache.processFolder,
                    bytesMax: connection.cacheBytesMax
                ),
                address: ShareURL.address(host: configuration.host, port: configuration.port)
            )
            sessions[key] = session
            return session
        }
    }

    /// Closes the connections to a server that has stopped.
    ///
    /// Containers that used them fail from then on.
    static func close(_ connection: CKServerConnection) async {
        let closed = self.sessions.withLock { sessions in
            let closed = sessions.filter { $0.key.connection == connection }
            for key in closed.keys { sessions[key] = nil }
            return closed.values.map(\.client)
        }
        for client in closed { await client.shutdown() }
    }
}

extension CKServerConnection {
    /// Ends all requests over this connection and closes it, in every container.
    ///
    /// For tests that stop their server.
    package func close() async { await SharedSessions.close(self) }
}
