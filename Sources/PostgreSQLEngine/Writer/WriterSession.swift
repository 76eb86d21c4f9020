import StorageContract

/// The connection of the writer, and the server's registration with it.
///
/// Used on the writer's thread alone.
final class WriterSession {
    /// A connection with its statements.
    struct Open {
        let connection: PostgreSQLConnection
        let tables: TableStatements
    }

    private let target: ConnectionTarget
    /// `nil` for a command.
    let witness: ClusterWitness?
    private let notice: @Sendable (ClusterNotice) -> Void
    private let admission: NodeAdmission?
    private var open: Open?
    /// `nil` for a command.
    private(set) var node: NodeRegistration?

    init(_ configuration: PostgreSQLEngineConfiguration, node: NodeRegistration?, witness: ClusterWitness?) {
        self.target = configuration.target
        self.notice = configuration.notice
        self.admission = configuration.admission
        self.node = node
        self.witness = witness
    }

    /// The connection, if there is one and it works.
    var current: PostgreSQLConnection? {
        guard let open, !open.connection.isLost else { return nil }
        return open.connection
    }

    /// A connection to a cluster with a checked history.
    func connected(onNew: () -> Void = {}) throws(StorageFailure) -> Open {
        if let open, !open.connection.isLost { return open }
        self.open = nil
        do throws(PostgreSQLError) {
            let connection = try PostgreSQLConnection(self.target)
            try self.witness?.check(connection)
            let made = Open(connection: connection, tables: TableStatements(connection))
            self.open = made
            onNew()
            return made
        } catch {
            throw .unavailable(code: error.state?.number ?? 0)
        }
    }

    /// Drops the connection, as its server no longer accepts writes; the next use makes another one.
    func leave() { self.open = nil }

    /// Registers again, as the row of this server is gone.
    func registerAgain() throws(StorageFailure) {
        guard let node else { return }
        let connection = try self.connected().connection
        do throws(PostgreSQLError) {
            self.node = try NodeRegistration.begin(
                named: node.name,
                on: connection,
                admission: self.admission
            )
        } catch {
            self.open = nil
            throw .unavailable(code: error.state?.number ?? 0)
        }
        self.notice(.registeredAgain)
    }

    /// Sends a heartbeat.
    func sendHeartbeat() throws(StorageFailure) {
        guard let node else { return }
        let parameters = [SQLValue.integer(node.number), .integer(node.boot)]
        _ = try self.connected().connection.rows(NodeRegistration.heartbeat, parameters)
    }

    /// Removes the server's row, and closes the connection.
    func close(_ lease: HousekeepingLease?) {
        defer { self.open = nil }
        guard let node, let lease, let current else { return }
        // If that fails, the row expires without heartbeats.
        try? node.end(lease, on: current)
    }
}
