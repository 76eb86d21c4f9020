/// The lease that makes one server of a store keep house: expire, sweep, build indexes.
///
/// The row of the store has the server, a term and a time. Every transaction that keeps house compares
/// the term under the row's lock. So a server that stood still, and lost the lease, does nothing:
/// whatever its clock says, the term is another one.
struct HousekeepingLease {
    /// How long a server that is gone keeps others from keeping house.
    static let milliseconds: Int64 = 30_000
    /// The part of it that passes before it is renewed.
    static let renewalMilliseconds: Int64 = 10_000

    /// The server.
    let node: String
    /// `nil` if the server has no lease.
    var term: Int64?

    func isHeld(in row: StoreRow) -> Bool { row.node == self.node && row.term == self.term }

    /// Whether nobody else keeps house.
    ///
    /// A server of the same name has ended, as its folder can be locked again.
    func mayBeTaken(in row: StoreRow) -> Bool {
        row.node.isEmpty || row.node == self.node || row.untilMilliseconds <= row.nowMilliseconds
    }

    func isRenewalDue(in row: StoreRow) -> Bool {
        row.untilMilliseconds &- row.nowMilliseconds < Self.milliseconds - Self.renewalMilliseconds
    }

    /// Takes the lease if it is free, and renews it if that is due.
    ///
    /// - Returns: Whether the row has changed. It counts once it is committed.
    mutating func keep(_ row: inout StoreRow) -> Bool {
        if self.isHeld(in: row) {
            guard self.isRenewalDue(in: row) else { return false }
        } else {
            self.term = nil
            guard self.mayBeTaken(in: row) else { return false }
            row.node = self.node
            row.term &+= 1
            self.term = row.term
        }
        row.untilMilliseconds = row.nowMilliseconds + Self.milliseconds
        return true
    }
}
