/// The memory that the responses of one connection take.
///
/// The connection's sum decides whether further requests are executed; the holder's account decides
/// whether there is room beside other holders.
///
/// Inlined, so that accesses are not checked at run time.
struct ResponseRoom {
    /// At this size the socket gets no more output until it has taken some.
    static let socketBytesMax = 256 * 1_024

    /// Bytes of held responses, and of room reserved for those that the engine is reading.
    private(set) var heldBytes = 0
    /// Bytes that the socket has not taken, as counted in the account.
    private var socketBytes = 0

    /// Changes the room reserved for a response, in the connection's sum and the holder's.
    @inline(__always)
    mutating func reserve(_ bytes: Int, for room: inout Response.Room, in account: Account) {
        let change = bytes - room.reservedBytes
        guard change != 0 else { return }
        room.reservedBytes = bytes
        self.heldBytes += change
        account.responses.add(change)
    }

    /// Changes the bytes that a response counts for, in the connection's sum and the holder's.
    ///
    /// - Returns: Whether they increased, so that other holders may lack room.
    @inline(__always)
    mutating func hold(_ bytes: Int, for room: inout Response.Room, in account: Account) -> Bool {
        let change = bytes - room.heldBytes
        guard change != 0 else { return false }
        room.heldBytes = bytes
        self.heldBytes += change
        account.responses.add(change)
        return change > 0
    }

    /// Returns all room of a response.
    @inline(__always)
    mutating func release(_ room: inout Response.Room, in account: Account) {
        self.reserve(0, for: &room, in: account)
        _ = self.hold(0, for: &room, in: account)
    }

    /// Counts bytes that the socket has not taken like responses.
    @inline(__always)
    mutating func countSocket(isFull: Bool, in account: Account) {
        let bytes = isFull ? Self.socketBytesMax : 0
        account.responses.add(bytes - self.socketBytes)
        self.socketBytes = bytes
    }
}
