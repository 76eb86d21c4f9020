import NIOCore

/// The time that one connection spends of its event loop, and the account that pays for it.
struct LoopTime {
    /// Of whoever is signed in; `nil` before the welcome.
    private(set) var account: LoopAccount?
    /// Until when the connection's work is paid for; `nil` while it does nothing.
    private var paidUntil: NIODeadline?
    /// Of the event loop's rounds, the one in which the connection was read last.
    private var lastRound: UInt64 = 0

    /// The connection belongs to a holder from now on.
    mutating func joined(_ account: LoopAccount) { self.account = account }

    /// Whether the next frame is to be handled now, and not in a later turn.
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

    /// Charges the holder with what was not charged yet.
    mutating func pay(at now: NIODeadline) {
        guard let account, let paidUntil else { return }
        account.spend(now - paidUntil)
        self.paidUntil = now
    }

    /// The connection does nothing more now.
    mutating func workEnded(at now: NIODeadline) {
        self.pay(at: now)
        self.paidUntil = nil
    }
}
