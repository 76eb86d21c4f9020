/// The lease by which one server of a store does the housekeeping: expiry, sweeps, index builds.
///
/// The row of the store has the server, a term and a time. Every housekeeping transaction compares
/// the term under the row's lock. So a server that was suspended and lost the lease does nothing,
/// whatever its clock says: the term has changed.
struct HousekeepingLease {
    /// How long the lease of a dead server blocks others.
    static let milliseconds: Int64 = 30_000
    /// Time until the lease is renewed.
    static let renewalMilliseconds: Int64 = 10_000

    /// The server.
    let node: String
    /// `nil` if the server has no lease.
    var term: Int64?

    func isHeld(in row: StoreRow) -> Bool { row.node == self.node && row.term == self.term }

    /// Whether no other server does the housekeeping.
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
    /// - Returns: Whether the row has changed. The change takes effect at the commit.
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
