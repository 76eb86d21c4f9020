import NIOCore

/// What the connections of one event loop share: its mailbox, its spare buffers, and the lists of them.
///
/// Used on the loop only.
final class LoopContext {
    /// Spare buffers are kept up to this many and this large: an idle connection holds none.
    private static let spareBuffersMax = 16
    private static let spareBufferBytesMax = 256 * 1_024

    /// Its place in the list of all.
    let number: Int
    let mailbox: ReplyMailbox
    let handshakes: HandshakeTurns
    let turns: LoopTurns
    private var spareBuffers: [ByteBuffer] = []
    private var connections: [ObjectIdentifier: ConnectionHandler] = [:]
    /// Those whose credential has an end, by number.
    private var expiring: [UInt64: ConnectionHandler] = [:]
    /// Those that listen or are about to, by number.
    private var listeners: [UInt64: ConnectionHandler] = [:]

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

    /// A list of its own: connections leave while it is walked.
    var openConnections: [ConnectionHandler] { Array(self.connections.values) }

    /// Ends connections of an account that wait for their clients, those first that hold most, until there is room for answers again.
    func endLargest(of account: Account, while accounts: Accounts) {
        let held = self.connections.values.filter { $0.account === account && $0.heldBytes > 0 }
        for connection in held.sorted(by: { $0.heldBytes > $1.heldBytes }) {
            guard !accounts.hasRoomForAnswers else { return }
            connection.endIfBlocked()
        }
    }

    /// Notes whether a connection has an end, and has it counted.
    func expires(_ connection: ConnectionHandler, _ expires: Bool, counted watch: CredentialWatch) {
        let before = self.expiring.count
        self.expiring[connection.number] = expires ? connection : nil
        watch.count(expiring: self.expiring.count - before)
    }

    /// Ends the connections whose time is over.
    func endExpired(nowMilliseconds: Int64) {
        for connection in Array(self.expiring.values) {
            connection.endIfExpired(nowMilliseconds: nowMilliseconds)
        }
    }

    func listens(_ connection: ConnectionHandler) {
        self.listeners[connection.number] = connection
    }

    func listensNoMore(_ connection: ConnectionHandler) {
        self.listeners[connection.number] = nil
    }

    /// Hands what the router has to the connections; each writes all that is for it and flushes once.
    func received(_ posts: [NotificationRouting.Post]) {
        var reached: [ConnectionHandler] = []
        for post in posts {
            switch post {
            case .began(let number):
                guard let connection = self.listeners[number] else { continue }
                connection.listeningBegan()
                reached.append(connection)
            case .failed(let number, let error):
                guard let connection = self.listeners.removeValue(forKey: number) else { continue }
                connection.listeningFailed(error)
                reached.append(connection)
            case .delivery(let delivery):
                for number in delivery.listeners where number != delivery.excluded {
                    guard let connection = self.listeners[number] else { continue }
                    if connection.arrived(delivery.notification) { reached.append(connection) }
                }
            }
        }
        for connection in reached { connection.sendArrived() }
    }

    func takeBuffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        self.spareBuffers.popLast() ?? allocator.buffer(capacity: 4_096)
    }

    /// Takes back a buffer that was flushed.
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
