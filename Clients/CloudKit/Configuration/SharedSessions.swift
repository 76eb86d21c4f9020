private import RecordClient
private import Synchronization

/// One connection for each container and configuration, however many `CKContainer` objects there
/// are.
///
/// Published code makes a `CKContainer` for each use, so a session stays for a while after its last
/// container was released (`CKServerConnection.lingerSeconds`).
///
/// - Bounds: As many as there are different containers and connections in use, or used a while ago.
enum SharedSessions {
    fileprivate struct Key: Hashable {
        var identifier: String
        var connection: CKServerConnection
    }

    private struct Entry {
        let session: ServerAccess.Session
        /// Tells it from others that had the key before.
        let number: Int
        var useCount = 0
        /// When the last use ended.
        var unusedSince = ContinuousClock.now
        /// Whether a look at it is scheduled.
        var isWatched = false
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var lastNumber = 0

        mutating func use(_ key: Key) -> SessionUse? {
            guard let entry = self.entries[key] else { return nil }
            self.entries[key]?.useCount += 1
            return SessionUse(of: entry.session, key: key, number: entry.number)
        }
    }

    private static let state = Mutex(State())

    /// Begins a use of the session of a container and connection, and makes the session if there is
    /// none.
    static func use(identifier: String, connection: CKServerConnection) throws(CKError) -> SessionUse {
        let key = Key(identifier: identifier, connection: connection)
        if let use = self.state.withLock({ $0.use(key) }) { return use }
        let session = try ServerAccess.Session(identifier: identifier, connection: connection)
        return self.state.withLock { state in
            if let use = state.use(key) { return use }
            state.lastNumber += 1
            let entry = Entry(session: session, number: state.lastNumber, useCount: 1)
            state.entries[key] = entry
            return SessionUse(of: entry.session, key: key, number: entry.number)
        }
    }

    /// Ends a use.
    ///
    /// The last one leaves the session for others, until it has been unused for a while.
    fileprivate static func useEnded(_ key: Key, _ number: Int) {
        self.state.withLock { state in
            guard var entry = state.entries[key], entry.number == number else { return }
            entry.useCount -= 1
            entry.unusedSince = .now
            if entry.useCount == 0, !entry.isWatched {
                entry.isWatched = true
                self.look(at: key, number, of: entry, in: key.connection.linger)
            }
            state.entries[key] = entry
        }
    }

    private static func look(at key: Key, _ number: Int, of entry: Entry, in time: Duration) {
        entry.session.client.after(time) { self.removeIfUnused(key, number) }
    }

    private static func removeIfUnused(_ key: Key, _ number: Int) {
        // Released behind the lock: its connection closes.
        _ = self.state.withLock { state -> Entry? in
            guard var entry = state.entries[key], entry.number == number else { return nil }
            guard entry.useCount == 0 else {
                entry.isWatched = false
                state.entries[key] = entry
                return nil
            }
            let left = key.connection.linger - entry.unusedSince.duration(to: .now)
            guard left <= .zero else {
                self.look(at: key, number, of: entry, in: left)
                return nil
            }
            return state.entries.removeValue(forKey: key)
        }
    }

    /// Closes the connections with a configuration.
    ///
    /// Containers that used them fail from then on.
    static func close(_ connection: CKServerConnection) async {
        let closed = self.state.withLock { state in
            let closed = state.entries.filter { $0.key.connection == connection }
            for key in closed.keys { state.entries[key] = nil }
            return closed.values.map(\.session.client)
        }
        for client in closed { await client.shutdown() }
    }
}

/// The use of a shared session; ends when it is released.
final class SessionUse: Sendable {
    let session: ServerAccess.Session
    private let key: SharedSessions.Key
    private let number: Int

    fileprivate init(of session: ServerAccess.Session, key: SharedSessions.Key, number: Int) {
        self.session = session
        self.key = key
        self.number = number
    }

    deinit { SharedSessions.useEnded(self.key, self.number) }
}

extension ServerAccess.Session {
    /// Makes a session that does not connect yet.
    ///
    /// - Throws: `CKError.badContainer` for a configuration that is incomplete or invalid.
    fileprivate init(identifier: String, connection: CKServerConnection) throws(CKError) {
        let configuration = try connection.clientConfiguration(container: identifier)
        let client = RecordClient(configuration: configuration)
        let isSignedIn = configuration.credential.isSignedIn
        let signIn = SignInResponse()
        let address = ShareURL.address(host: configuration.host, port: configuration.port)
        self.init(
            client: client,
            isSignedIn: isSignedIn,
            environment: connection.environment,
            user: UserName(),
            signIn: signIn,
            gate: connection.schema.map { SchemaGate(schema: $0) },
            notifications: NotificationHub(signIn: isSignedIn ? signIn : nil) { client.listen($0) },
            ledgers: connection.ledgers(of: identifier, at: address),
            cache: AssetCache.at(
                connection.cacheFolder ?? AssetCache.processFolder,
                bytesMax: connection.cacheBytesMax
            ),
            address: address
        )
    }
}

extension CKServerConnection {
    /// How long a connection stays open after its last container was released.
    fileprivate var linger: Duration { .seconds(self.lingerSeconds) }

    /// Ends all requests over this connection and closes it, in every container.
    ///
    /// Beyond Apple's API. Connections close by themselves a minute after their last container was
    /// released. Call this to close one at once, before a process ends or when a user has signed
    /// out. Containers that used the connection fail from then on; a container that is made later
    /// connects again.
    public func close() async { await SharedSessions.close(self) }
}
