import NIOCore

/// The way back to a connection, from a thread of the engine or of the files.
struct LoopReturn: Sendable {
    private let connection: NIOLoopBound<ConnectionHandler>
    private let eventLoop: any EventLoop

    init(_ connection: ConnectionHandler) {
        self.connection = NIOLoopBound(connection, eventLoop: connection.eventLoop)
        self.eventLoop = connection.eventLoop
    }

    /// Executes the body on the connection's event loop, and flushes what it wrote.
    func callAsFunction(_ body: @escaping @Sendable (ConnectionHandler) -> Void) {
        self.eventLoop.execute {
            body(self.connection.value)
            self.connection.value.flush()
        }
    }
}
