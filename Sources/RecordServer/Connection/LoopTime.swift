import NIOCore

/// The time that one connection spends on its event loop, and the account that is charged.
struct LoopTime {
    /// The signed-in user's account; `nil` before the welcome.
    private(set) var account: LoopAccount?
    /// The time up to which the connection's work is charged; `nil` while it is idle.
    private var paidUntil: NIODeadline?
    /// The event loop's round in which the connection was last read.
    private var lastRound: UInt64 = 0

    /// The connection now belongs to a holder.
    mutating func joined(_ account: LoopAccount) { self.account = account }

    /// Whether to handle the next frame now instead of in a later turn.
    var isTurn: Bool {
        guard let account else { return true }
        return account.left > .zero
    }

    /// The connection is read: its holder has a turn in each round.
    mutating func readBegan(at now: NIODeadline, in turns: LoopTurns) {
        if let account, self.paidUntil == nil {
            self.lastRound = turns.reads(in: self.lastRound, of: account)
        }
        self.paidUntil = now
    }

    /// A turn of the holder has come.
    mutating func turnBegan(at now: NIODeadline) { self.paidUntil = now }

    /// Charges the holder for uncharged time.
    mutating func pay(at now: NIODeadline) {
        guard let account, let paidUntil else { return }
        account.spend(now - paidUntil)
        self.paidUntil = now
    }

    /// The connection has no more work now.
    mutating func workEnded(at now: NIODeadline) {
        self.pay(at: now)
        self.paidUntil = nil
    }
}
