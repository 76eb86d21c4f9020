import NIOCore

/// A reference to a part of a connection for threads of the engine and of files.
struct LoopReturn<Part: AnyObject>: Sendable {
    private struct Target {
        let part: Part
        let connection: Connection
    }

    private let target: NIOLoopBound<Target>
    private let eventLoop: any EventLoop

    init(_ part: Part, of connection: Connection) {
        let target = Target(part: part, connection: connection)
        self.target = NIOLoopBound(target, eventLoop: connection.eventLoop)
        self.eventLoop = connection.eventLoop
    }

    /// Executes the body on the connection's event loop, and flushes its output.
    func callAsFunction(_ body: @escaping @Sendable (Part) -> Void) {
        self.eventLoop.execute {
            body(self.target.value.part)
            self.target.value.connection.flush()
        }
    }
}
