import NIOCore

/// The state that the connections of one event loop share: its mailbox, its spare buffers and the
/// connection lists.
///
/// Used on the loop only.
final class LoopContext {
    /// Maximum number of spare buffers, and their maximum size: an idle connection holds none.
    private static let spareBuffersMax = 16
    private static let spareBufferBytesMax = 256 * 1_024

    /// Its index in the list of all loops.
    let number: Int
    let mailbox: ReplyMailbox
    let handshakes: HandshakeTurns
    let turns: LoopTurns
    private var spareBuffers: [ByteBuffer] = []
    private var connections: [ObjectIdentifier: ConnectionHandler] = [:]
    /// Credentials with an expiry, by connection number.
    private var expiring: [UInt64: ConnectionCredential] = [:]
    /// Connections that listen or are about to, by number.
    private var listeners: [UInt64: ConnectionListening] = [:]

    init(number: Int, eventLoop: any EventLoop) {
        self.number = number
        self.mailbox = ReplyMailbox(eventLoop: eventLoop)
        self.handshakes = HandshakeTurns(eventLoop: eventLoop)
        self.turns = LoopTurns(eventLoop: eventLoop)
    }

    func opened(_ connection: ConnectionHandler) {
        self.connections[ObjectIdentifier(connection)] = connection
    }

    func closed(_ connection: ConnectionHandler) {
        self.connections[ObjectIdentifier(connection)] = nil
    }

    /// A copy of the list: connections leave while it is iterated.
    var openConnections: [ConnectionHandler] { Array(self.connections.values) }

    /// Ends connections of an account that wait for their clients, until there is room for
    /// responses again.
    ///
    /// The connections that hold most end first.
    func endLargest(of account: Account, while accounts: Accounts) {
        let held = self.connections.values.filter {
            $0.connection.account === account && $0.responses.heldBytes > 0
        }
        for connection in held.sorted(by: { $0.responses.heldBytes > $1.responses.heldBytes }) {
            guard !accounts.hasRoomForResponses else { return }
            connection.responses.endIfBlocked()
        }
    }

    /// Notes whether a connection's credential expires, and counts it in the watch.
    func expires(_ credential: ConnectionCredential, _ expires: Bool, counted watch: CredentialWatch) {
        let before = self.expiring.count
        self.expiring[credential.number] = expires ? credential : nil
        watch.count(expiring: self.expiring.count - before)
    }

    /// Ends the connections with expired credentials.
    func endExpired(nowMilliseconds: Int64) {
        for credential in Array(self.expiring.values) {
            credential.endIfExpired(nowMilliseconds: nowMilliseconds)
        }
    }

    func listens(_ listener: ConnectionListening) {
        self.listeners[listener.number] = listener
    }

    func listensNoMore(_ listener: ConnectionListening) {
        self.listeners[listener.number] = nil
    }

    /// Hands the router's posts to the connections; each writes all of its own and flushes once.
    func received(_ posts: [NotificationRouting.Post]) {
        var reached: [ConnectionListening] = []
        for post in posts {
            switch post {
            case .began(let number):
                guard let listener = self.listeners[number] else { continue }
                listener.began()
                reached.append(listener)
            case .failed(let number, let error):
                guard let listener = self.listeners.removeValue(forKey: number) else { continue }
                listener.failed(error)
                reached.append(listener)
            case .delivery(let delivery):
                for number in delivery.listeners where number != delivery.excluded {
                    guard let listener = self.listeners[number] else { continue }
                    if listener.arrived(delivery.notification) { reached.append(listener) }
                }
            }
        }
        for listener in reached { listener.sendArrived() }
    }

    func takeBuffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        self.spareBuffers.popLast() ?? allocator.buffer(capacity: 4_096)
    }

    /// Returns a buffer that was flushed.
    ///
    /// Bytes that the channel still holds are not touched: clearing copies on write.
    func giveBack(_ buffer: consuming ByteBuffer) {
        guard self.spareBuffers.count < Self.spareBuffersMax, buffer.capacity <= Self.spareBufferBytesMax
        else {
            return
        }
        buffer.clear()
        self.spareBuffers.append(buffer)
    }
}
