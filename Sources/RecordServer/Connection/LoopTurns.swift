import NIOCore
import RecordStore

/// The time of one event loop, in turns by holder: what one of them sends on any number of
/// connections delays others by a turn.
///
/// In each round, in which every connection is read once at the most, frames are handled as they
/// come while their holder has time left of a turn. Then what else came waits in the connections,
/// which read no more, and the loop goes on with it for a turn at a time. Between two it looks for
/// what others have sent.
///
/// Used on the loop only.
final class LoopTurns {
    /// A turn of whoever has the loop to themselves: newcomers wait for it.
    private static let turnAlone = TimeAmount.milliseconds(10)
    /// A turn beside others: a dozen of short fetches.
    private static let turn = TimeAmount.microseconds(300)
    /// Between two turns: an event loop looks for what came only when it has nothing to do now.
    ///
    /// The pause is long enough for the kernel to give the processor to others, such as clients on
    /// this machine.
    private static let pause = TimeAmount.microseconds(50)

    private let eventLoop: any EventLoop
    private var accounts: [AccountHolder: LoopAccount] = [:]
    /// By microseconds.
    private var waiting: TurnQueue<AccountHolder, ConnectionHandler>
    private var isServing = false
    private var round: UInt64 = 1

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.waiting = TurnQueue(quantum: Int(Self.turn.nanoseconds / 1_000))
    }

    /// A connection belongs to a holder from now on.
    func joined(_ holder: AccountHolder) -> LoopAccount {
        let account = self.accounts[holder] ?? LoopAccount(holder)
        self.accounts[holder] = account
        account.connections += 1
        return account
    }

    /// A connection has ended.
    func left(_ account: LoopAccount) {
        account.connections -= 1
        if account.connections == 0 { self.accounts[account.holder] = nil }
    }

    private var turn: TimeAmount { self.accounts.count == 1 ? Self.turnAlone : Self.turn }

    /// A connection is read: its holder has a turn in each round, unless others of theirs wait for
    /// one.
    ///
    /// - Returns: The round, to be told at the next time; one that was read in this round is in the
    ///   next.
    func reads(in lastRound: UInt64, of account: LoopAccount) -> UInt64 {
        if lastRound == self.round { self.round += 1 }
        if account.round != self.round, account.waiting == 0 {
            account.round = self.round
            account.left = self.turn
        }
        return self.round
    }

    /// Lets a connection go on in a turn of its holder, when that comes.
    func wait(_ connection: ConnectionHandler, of account: LoopAccount) {
        account.waiting += 1
        self.waiting.append(connection, of: account.holder, cost: 1)
        if !self.isServing { self.serveSoon() }
    }

    private func serveSoon() {
        self.isServing = true
        self.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.serve() }
    }

    /// Gives a turn to whoever is next, and what they leave of it to those behind them.
    private func serve() {
        var left = self.turn
        while left > .zero, let connection = self.waiting.popFirst() {
            guard let account = connection.time.account else { continue }
            account.waiting -= 1
            account.left = left
            connection.resumeFrames()
            let used = left - account.left
            self.waiting.charge(Int(used.nanoseconds / 1_000), of: account.holder)
            left = left - used
            account.left = account.waiting == 0 ? self.turn : .zero
        }
        self.isServing = false
        if !self.waiting.isEmpty { self.serveSoon() }
    }
}

/// The share of one holder in an event loop's time.
///
/// Found once for a connection. Used on the loop only.
final class LoopAccount {
    let holder: AccountHolder
    /// Of the turn; nothing, or less, when it is used up.
    fileprivate(set) var left = TimeAmount.zero
    /// In which it had its last turn.
    fileprivate var round: UInt64 = 0
    /// Connections on the loop.
    fileprivate var connections = 0
    /// Of those, how many wait for a turn.
    fileprivate var waiting = 0

    init(_ holder: AccountHolder) {
        self.holder = holder
    }

    /// So much was spent for it.
    func spend(_ time: TimeAmount) { self.left = self.left - time }
}
