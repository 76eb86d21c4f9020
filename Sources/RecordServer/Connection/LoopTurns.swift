import Admission
import NIOCore

/// Shares the time of one event loop between holders: a holder's load on any number of connections
/// delays others by one turn.
///
/// In each round, every connection is read at most once. Frames are handled as they arrive while
/// their holder has time left. Then further frames are queued in the connections, which stop
/// reading, and the loop handles them one turn at a time. Between two turns it polls for other
/// input.
///
/// Used on the loop only.
final class LoopTurns {
    /// A turn of the only active holder: newcomers wait for it.
    private static let turnAlone = TimeAmount.milliseconds(10)
    /// A turn beside others: a dozen of short fetches.
    private static let turn = TimeAmount.microseconds(300)
    /// Pause between two turns: an event loop polls its sockets only when it has no work.
    ///
    /// The pause is long enough for the kernel to run other processes, such as clients on this
    /// machine.
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

    /// A connection now belongs to a holder.
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

    /// A connection is read: its holder has a turn in each round, unless other connections of the
    /// holder wait for one.
    ///
    /// - Returns: The current round, for the next call; a connection that was already read in this
    ///   round gets the next one.
    func reads(in lastRound: UInt64, of account: LoopAccount) -> UInt64 {
        if lastRound == self.round { self.round += 1 }
        if account.round != self.round, account.waiting == 0 {
            account.round = self.round
            account.left = self.turn
        }
        return self.round
    }

    /// Queues a connection for its holder's next turn.
    func wait(_ connection: ConnectionHandler, of account: LoopAccount) {
        account.waiting += 1
        self.waiting.append(connection, of: account.holder, cost: 1)
        if !self.isServing { self.serveSoon() }
    }

    private func serveSoon() {
        self.isServing = true
        self.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.serve() }
    }

    /// Gives a turn to the next holder, and the rest of its time to those behind.
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
    /// Time left of the turn; zero or less when it is used up.
    fileprivate(set) var left = TimeAmount.zero
    /// The round of its last turn.
    fileprivate var round: UInt64 = 0
    /// Connections on the loop.
    fileprivate var connections = 0
    /// Number of those that wait for a turn.
    fileprivate var waiting = 0

    init(_ holder: AccountHolder) {
        self.holder = holder
    }

    /// Charges the account.
    func spend(_ time: TimeAmount) { self.left = self.left - time }
}
