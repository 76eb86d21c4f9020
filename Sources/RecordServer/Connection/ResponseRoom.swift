/// The room that the responses of one connection take.
///
/// The sum of the connection decides whether further requests are executed; the holder's account
/// decides whether there is room beside others.
///
/// Inlined, so that no access to the room is checked while the server runs.
struct ResponseRoom {
    /// At this much nothing is written to the socket until it has taken some.
    static let socketBytesMax = 256 * 1_024

    /// Responses held, and room set aside for those that the engine is reading.
    private(set) var heldBytes = 0
    /// Bytes that the socket has not taken, as far as they are in the account.
    private var socketBytes = 0

    /// Changes the room that is set aside for a response, in the connection's sum and the holder's.
    @inline(__always)
    mutating func reserve(_ bytes: Int, for room: inout Response.Room, in account: Account) {
        let change = bytes - room.reservedBytes
        guard change != 0 else { return }
        room.reservedBytes = bytes
        self.heldBytes += change
        account.responses.add(change)
    }

    /// Changes what a response counts for, in the connection's sum and the holder's.
    ///
    /// - Returns: Whether it counts for more than before, so that others may lack room.
    @inline(__always)
    mutating func hold(_ bytes: Int, for room: inout Response.Room, in account: Account) -> Bool {
        let change = bytes - room.heldBytes
        guard change != 0 else { return false }
        room.heldBytes = bytes
        self.heldBytes += change
        account.responses.add(change)
        return change > 0
    }

    /// Gives back all that a response counts for.
    @inline(__always)
    mutating func release(_ room: inout Response.Room, in account: Account) {
        self.reserve(0, for: &room, in: account)
        _ = self.hold(0, for: &room, in: account)
    }

    /// What the socket has not taken counts like responses.
    @inline(__always)
    mutating func countSocket(isFull: Bool, in account: Account) {
        let bytes = isFull ? Self.socketBytesMax : 0
        account.responses.add(bytes - self.socketBytes)
        self.socketBytes = bytes
    }
}
