import Admission
import NIOCore
import Synchronization

/// The accounts of all holders with connections, and the connection counts.
///
/// Used when a connection opens, signs in and ends, never for a request.
final class Accounts: Sendable {
    /// The decision about an accepted connection.
    enum OnArrival {
        /// `open`: number of connections, this one included.
        case serve(Account, open: Int)
        /// The server is full: the connection gets a refusal.
        case refuse(Account)
        /// The server is too full even for a refusal, or it is shutting down.
        case close
    }

    private struct Entry {
        let account: Account
        var connections = 0
        /// Connections that are being refused for lack of room.
        var refused = 0
    }

    private struct State {
        var entries: [AccountHolder: Entry] = [:]
        var open = 0
        var refused = 0
        var isDraining = false
        var whenNone: [EventLoopPromise<Void>] = []
    }

    /// Maximum number of connections that get a refusal at the same time; further ones are closed
    /// silently.
    static let refusedMax = 64

    private let connectionsMax: SharedBound
    private let refusedMax = SharedBound(capacity: Accounts.refusedMax)
    let responses: SharedAmount
    let unfinishedFrames: SharedAmount
    private let state = Mutex(State())

    init(connectionsMax: Int, responseBytesMax: Int, unfinishedBytesMax: Int) {
        self.connectionsMax = SharedBound(capacity: connectionsMax)
        self.responses = SharedAmount(capacity: responseBytesMax)
        self.unfinishedFrames = SharedAmount(capacity: unfinishedBytesMax)
    }

    /// Assigns an accepted connection to its address.
    func opened(from network: String) -> OnArrival {
        self.state.withLock { state in
            guard !state.isDraining else { return .close }
            let holder = AccountHolder.address(network)
            var entry = self.entry(of: holder, in: state)
            defer { if entry.connections + entry.refused > 0 { state.entries[holder] = entry } }
            if self.mayHaveOneMore(entry.connections, of: state.open) {
                entry.connections += 1
                state.open += 1
                return .serve(entry.account, open: state.open)
            }
            guard self.refusedMax.admits(1, own: entry.refused, all: state.refused) else { return .close }
            entry.refused += 1
            state.refused += 1
            return .refuse(entry.account)
        }
    }

    /// Assigns a connection to a user.
    ///
    /// - Returns: The user's account; `nil` if the user has the maximum number of connections, so
    ///   the connection still belongs to its address.
    func signedIn(_ holder: AccountHolder, instead address: Account) -> Account? {
        self.state.withLock { state in
            var entry = self.entry(of: holder, in: state)
            guard self.mayHaveOneMore(entry.connections, of: state.open - 1) else { return nil }
            entry.connections += 1
            state.entries[holder] = entry
            self.changeEntry(of: address, in: &state) { $0.connections -= 1 }
            return entry.account
        }
    }

    /// Removes a connection that has ended.
    ///
    /// - Returns: Number of the remaining connections.
    func closed(_ account: Account, wasRefused: Bool = false) -> Int {
        let (open, promises) = self.state.withLock { state in
            self.changeEntry(of: account, in: &state) {
                if wasRefused { $0.refused -= 1 } else { $0.connections -= 1 }
            }
            if wasRefused { state.refused -= 1 } else { state.open -= 1 }
            guard state.open == 0, state.refused == 0 else {
                return (state.open, [EventLoopPromise<Void>]())
            }
            let promises = state.whenNone
            state.whenNone = []
            return (0, promises)
        }
        for promise in promises { promise.succeed() }
        return open
    }

    /// Accepts no further connections; succeeds the promise when the last one has ended.
    func drain(whenNone promise: EventLoopPromise<Void>) {
        let isEmpty = self.state.withLock { state in
            state.isDraining = true
            guard state.open > 0 || state.refused > 0 else { return true }
            state.whenNone.append(promise)
            return false
        }
        if isEmpty { promise.succeed() }
    }

    /// Whether response memory is nearly full, so that a holder without responses may soon be
    /// refused.
    var isShortOfResponses: Bool { self.responses.all > self.responses.bound.capacity / 8 * 7 }
    /// Whether response memory has room again.
    var hasRoomForResponses: Bool { self.responses.all <= self.responses.bound.capacity / 4 * 3 }

    /// The account with the responses that take the most memory; `nil` if there are none.
    ///
    /// Scans every account: only for when memory must be freed.
    var largestByResponses: Account? {
        let accounts = self.state.withLock { state in state.entries.values.map(\.account) }
        let largest = accounts.max { $0.responses.own < $1.responses.own }
        return largest.flatMap { $0.responses.own > 0 ? $0 : nil }
    }

    /// A holder without a connection may take any remaining room, even the last of it.
    private func mayHaveOneMore(_ own: Int, of all: Int) -> Bool {
        all < self.connectionsMax.capacity && (own == 0 || self.connectionsMax.admits(1, own: own, all: all))
    }

    private func entry(of holder: AccountHolder, in state: State) -> Entry {
        state.entries[holder]
            ?? Entry(
                account: Account(holder, responses: self.responses, unfinishedFrames: self.unfinishedFrames)
            )
    }

    private func changeEntry(of account: Account, in state: inout State, _ change: (inout Entry) -> Void) {
        guard var entry = state.entries[account.holder] else {
            preconditionFailure("a connection of an account that nobody has")
        }
        change(&entry)
        state.entries[account.holder] = entry.connections + entry.refused > 0 ? entry : nil
    }
}

extension Accounts {
    /// The totals, and the largest account.
    var readings: [Metric] {
        [
            Metric(.responsesHeldBytes, self.responses.all),
            Metric(.responsesHeldLargestBytes, self.largestByResponses?.responses.own ?? 0),
            Metric(.unfinishedFrameBytes, self.unfinishedFrames.all),
        ]
    }
}
