import Admission
import NIOCore
import NIOPosix
import StorageContract
import Testing

@testable import RecordServer

/// What one holder may have while others have theirs.
struct AccountTests {
    private static func accounts(connectionsMax: Int = 8, responseBytesMax: Int = 1_000) -> Accounts {
        Accounts(
            connectionsMax: connectionsMax,
            responseBytesMax: responseBytesMax,
            unfinishedBytesMax: 1_000
        )
    }

    private static func user(_ name: String) -> AccountHolder {
        .user(environment: 1, name)
    }

    /// The account of a connection that is served, or `nil` if there was no room.
    private static func open(_ accounts: Accounts, from network: String) -> Account? {
        guard case .serve(let account, _) = accounts.opened(from: network) else { return nil }
        return account
    }

    @Test func `one address has half of the connections, and the last place is somebody else's`() {
        let accounts = Self.accounts()
        let greedy = (0..<8).compactMap { _ in Self.open(accounts, from: "a") }
        #expect(greedy.count == 4)
        let others = ["b", "c", "d", "e", "f"].compactMap { Self.open(accounts, from: $0) }
        #expect(others.count == 4, "the fifth finds all places taken")
        #expect(accounts.closed(others[0]) == 7)
        #expect(Self.open(accounts, from: "g") != nil)
    }

    @Test func `connections of one holder share an account, which is forgotten with the last of them`() throws
    {
        let accounts = Self.accounts()
        let first = try #require(Self.open(accounts, from: "a"))
        let second = try #require(Self.open(accounts, from: "a"))
        #expect(first === second)
        _ = accounts.closed(first)
        let third = Self.open(accounts, from: "a")
        #expect(third === second)
        _ = accounts.closed(second)
        _ = accounts.closed(second)
        let fourth = Self.open(accounts, from: "a")
        #expect(fourth !== second)
    }

    @Test func `a connection that signs in makes room at its address, and its user has a bound too`() throws {
        let accounts = Self.accounts()
        for _ in 0..<4 {
            let address = try #require(Self.open(accounts, from: "a"))
            #expect(accounts.signedIn(Self.user("greedy"), instead: address)?.holder == Self.user("greedy"))
        }
        let fifth = try #require(Self.open(accounts, from: "a"))
        #expect(accounts.signedIn(Self.user("greedy"), instead: fifth) == nil)
        #expect(accounts.signedIn(Self.user("other"), instead: fifth) != nil)
    }

    @Test func `few are told that there is no room, and one address takes half of that`() {
        let accounts = Self.accounts(connectionsMax: 1)
        #expect(Self.open(accounts, from: "a") != nil)
        var refused = 0
        while case .refuse = accounts.opened(from: "b") { refused += 1 }
        #expect(refused == Accounts.refusedMax / 2)
        guard case .refuse(let other) = accounts.opened(from: "c") else {
            Issue.record("somebody else is not told")
            return
        }
        #expect(accounts.closed(other, wasRefused: true) == 1)
    }

    @Test func `a drain waits for those that are served and those that are refused`() async throws {
        let accounts = Self.accounts(connectionsMax: 1)
        let served = try #require(Self.open(accounts, from: "a"))
        guard case .refuse(let refused) = accounts.opened(from: "a") else {
            Issue.record("not refused")
            return
        }
        let whenNone = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: Void.self)
        accounts.drain(whenNone: whenNone)
        guard case .close = accounts.opened(from: "b") else {
            Issue.record("let in while the server stops")
            return
        }
        _ = accounts.closed(served)
        #expect(accounts.closed(refused, wasRefused: true) == 0)
        try await whenNone.futureResult.get()
    }

    @Test func `nobody has more of the answers than is left for the others`() throws {
        let accounts = Self.accounts()
        let greedy = try #require(Self.open(accounts, from: "a"))
        let modest = try #require(Self.open(accounts, from: "b"))
        while greedy.responses.hasRoom(for: 100) { greedy.responses.add(100) }
        #expect(greedy.responses.own == 500)
        #expect(!greedy.responses.isBeyondBound)
        #expect(modest.responses.hasRoom(for: 100))
        modest.responses.add(100)
        #expect(greedy.responses.isBeyondBound, "what others have is room that is not there any more")
        #expect(accounts.responses.all == 600 && accounts.responses.most == 600)
        #expect(accounts.largestByResponses === greedy)
        greedy.responses.add(-500)
        modest.responses.add(-100)
        #expect(accounts.responses.all == 0 && accounts.largestByResponses == nil)
    }

    @Test func `room is short above seven eighths, and there again at three quarters`() throws {
        let accounts = Self.accounts()
        let account = try #require(Self.open(accounts, from: "a"))
        account.responses.add(875)
        #expect(!accounts.isShortOfResponses)
        account.responses.add(1)
        #expect(accounts.isShortOfResponses)
        account.responses.add(-125)
        #expect(!accounts.hasRoomForResponses)
        account.responses.add(-1)
        #expect(accounts.hasRoomForResponses)
    }
}
