import NIOCore
import RecordStore
import Synchronization

/// The accounts of those who have connections, and how many they have.
///
/// Looked at when a connection opens, signs in and ends, never for a request.
final class Accounts: Sendable {
    /// What becomes of a connection that was accepted.
    enum OnArrival {
        /// `open`: connections that there are with it.
        case serve(Account, open: Int)
        /// There is no room: it is told so.
        case refuse(Account)
        /// There is no room, not even for telling it; or the server stops.
        case close
    }

    private struct Entry {
        let account: Account
        var connections = 0
        /// Connections that are told that there is no room.
        var refused = 0
    }

    private struct State {
        var entries: [AccountHolder: Entry] = [:]
        var open = 0
        var refused = 0
        var isDraining = false
        var whenNone: [EventLoopPromise<Void>] = []
    }

    /// Connections that are told at the same time that there is no room; further ones are closed
    /// without a word.
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

    /// A connection was accepted: it belongs to its address, for now.
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

    /// A connection belongs to a user from now on.
    ///
    /// - Returns: The user's account; `nil` if the user has as many connections as there may be, so
    ///   that it goes on belonging to its address.
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

    /// A connection has ended.
    ///
    /// - Returns: Connections that there are without it.
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

    /// Lets nobody in any more; the promise is kept when the last one has left.
    func drain(whenNone promise: EventLoopPromise<Void>) {
        let isEmpty = self.state.withLock { state in
            state.isDraining = true
            guard state.open > 0 || state.refused > 0 else { return true }
            state.whenNone.append(promise)
            return false
        }
        if isEmpty { promise.succeed() }
    }

    /// Whether little room is left for responses: somebody who has none might be refused soon.
    var isShortOfResponses: Bool { self.responses.all > self.responses.bound.capacity / 8 * 7 }
    /// Whether there is room for responses again.
    var hasRoomForResponses: Bool { self.responses.all <= self.responses.bound.capacity / 4 * 3 }

    /// The account whose responses take the most memory; `nil` if there are none.
    ///
    /// Looks at every account: for the moment in which memory has to come back.
    var largestByResponses: Account? {
        let accounts = self.state.withLock { state in state.entries.values.map(\.account) }
        let largest = accounts.max { $0.responses.own < $1.responses.own }
        return largest.flatMap { $0.responses.own > 0 ? $0 : nil }
    }

    /// What is left belongs to whoever has none: so the last place is somebody's too.
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
    /// What all have, and who has most.
    var readings: [Metric] {
        [
            Metric(.responsesHeldBytes, self.responses.all),
            Metric(.responsesHeldLargestBytes, self.largestByResponses?.responses.own ?? 0),
            Metric(.unfinishedFrameBytes, self.unfinishedFrames.all),
        ]
    }
}
