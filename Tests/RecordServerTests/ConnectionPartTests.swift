import Admission
import NIOCore
import NIOEmbedded
import Testing
import Transport
import WireProtocol

@testable import RecordServer

/// Parts of a connection that are values.
struct ConnectionPartTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private static func account(unfinishedBytesMax: Int = 1_000_000) throws -> Account {
        let accounts = Accounts(
            connectionsMax: 8,
            responseBytesMax: 1_000_000,
            unfinishedBytesMax: unfinishedBytesMax
        )
        guard case .serve(let account, _) = accounts.opened(from: "a") else { throw CancellationError() }
        return account
    }

    // MARK: - Requests that wait

    @Test func `requests are executed in order until responses take the room`() {
        var queue = RequestQueue()
        #expect(queue.isEmpty)
        for stream in [1, 3, 5] as [UInt32] { queue.append(stream) }
        #expect(!queue.isEmpty)
        let begins = queue.begin()
        #expect(begins)
        #expect(queue.next(hasRoom: true) == 1)
        let beginsWithin = queue.begin()
        #expect(!beginsWithin, "a response that comes at once does not begin again")
        #expect(queue.next(hasRoom: true) == 3)
        #expect(queue.next(hasRoom: false) == nil)
        let beginsLater = queue.begin()
        #expect(beginsLater)
        #expect(queue.next(hasRoom: true) == 5)
        #expect(queue.next(hasRoom: true) == nil)
        let beginsForNothing = queue.begin()
        #expect(!beginsForNothing)
    }

    // MARK: - Room

    @Test func `room that is set aside is the holder's until the response has it`() throws {
        let account = try Self.account()
        var room = ResponseRoom()
        var response = Response.Room()
        room.reserve(500, for: &response, in: account)
        #expect(room.heldBytes == 500 && account.responses.own == 500)
        let grew = room.hold(300, for: &response, in: account)
        #expect(grew && room.heldBytes == 800 && account.responses.own == 800)
        room.release(&response, in: account)
        #expect(room.heldBytes == 0 && account.responses.own == 0 && response.isEmpty)
    }

    @Test func `a full socket counts once`() throws {
        let account = try Self.account()
        var room = ResponseRoom()
        room.countSocket(isFull: true, in: account)
        room.countSocket(isFull: true, in: account)
        #expect(account.responses.own == ResponseRoom.socketBytesMax)
        room.countSocket(isFull: false, in: account)
        #expect(account.responses.own == 0 && room.heldBytes == 0)
    }

    // MARK: - Frames that have begun

    /// The beginning of a frame of this size.
    private static func beginning(payloadBytes: Int, sent: Int) -> ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeMultipleIntegers(UInt32(payloadBytes), FrameKind.request.rawValue, UInt8(0), UInt32(1))
        bytes.writeRepeatingByte(0, count: sent)
        return bytes
    }

    @Test func `a frame that has begun has a time, which the next frame begins anew`() throws {
        let account = try Self.account()
        let frames = FrameAssembly(payloadBytesMax: 1_000_000)
        var unfinished = UnfinishedFrame(timeout: .seconds(60))
        let nothing = unfinished.look(at: frames, receivedAt: Self.start, account: account)
        #expect(nothing == .goOn)
        try frames.received(Self.beginning(payloadBytes: 100, sent: 10)) { _ in }
        let first = unfinished.look(at: frames, receivedAt: Self.start, account: account)
        #expect(first == .watch(until: Self.start + .seconds(60)))
        let same = unfinished.look(at: frames, receivedAt: Self.start + .seconds(1), account: account)
        #expect(same == .goOn)

        try frames.received(ByteBuffer(repeating: 0, count: 90)) { _ in }
        try frames.received(Self.beginning(payloadBytes: 100, sent: 10)) { _ in }
        let second = unfinished.look(at: frames, receivedAt: Self.start + .seconds(50), account: account)
        #expect(second == .watch(until: Self.start + .seconds(110)))
        let minute = Self.start + .seconds(60)
        #expect(unfinished.timerFired(at: minute, isUnfinished: false) == .ignore)
        let again = unfinished.timerFired(at: minute, isUnfinished: true)
        #expect(again == .watch(until: Self.start + .seconds(110)))
        #expect(unfinished.timerFired(at: Self.start + .seconds(110), isUnfinished: true) == .close)
    }

    @Test func `memory of unfinished frames is the holder's, and has a bound`() throws {
        let account = try Self.account(unfinishedBytesMax: 400_000)
        let frames = FrameAssembly(payloadBytesMax: 1_000_000)
        var unfinished = UnfinishedFrame(timeout: .seconds(60))
        try frames.received(Self.beginning(payloadBytes: 90_000, sent: 10)) { _ in }
        _ = unfinished.look(at: frames, receivedAt: Self.start, account: account)
        #expect(account.unfinishedFrames.own >= 90_000)
        unfinished.end(in: account)
        #expect(account.unfinishedFrames.own == 0)

        var others: [(FrameAssembly, UnfinishedFrame)] = []
        var refused = 0
        for _ in 0..<10 {
            let frames = FrameAssembly(payloadBytesMax: 1_000_000)
            var unfinished = UnfinishedFrame(timeout: .seconds(60))
            try frames.received(Self.beginning(payloadBytes: 90_000, sent: 10)) { _ in }
            let action = unfinished.look(at: frames, receivedAt: Self.start, account: account)
            if action == .refuse { refused += 1 }
            others.append((frames, unfinished))
        }
        #expect(refused > 0 && refused < 10)
        #expect(account.unfinishedFrames.own <= 400_000)
    }

    // MARK: - Time of the event loop

    @Test func `a holder pays for what a connection spends, and has a turn in each round`() {
        let turns = LoopTurns(eventLoop: EmbeddedEventLoop())
        var time = LoopTime()
        time.readBegan(at: Self.start, in: turns)
        #expect(time.isTurn, "nobody pays before the welcome")
        time.workEnded(at: Self.start)

        time.joined(turns.joined(.address("a")))
        #expect(!time.isTurn)
        time.readBegan(at: Self.start, in: turns)
        time.pay(at: Self.start + .milliseconds(4))
        #expect(time.isTurn)
        time.workEnded(at: Self.start + .milliseconds(11))
        #expect(!time.isTurn)
        time.readBegan(at: Self.start + .milliseconds(20), in: turns)
        #expect(time.isTurn, "what it did not do in between costs nothing")
    }

    @Test func `a turn beside another holder is short`() {
        let turns = LoopTurns(eventLoop: EmbeddedEventLoop())
        var time = LoopTime()
        time.joined(turns.joined(.address("a")))
        let other = turns.joined(.address("b"))
        time.readBegan(at: Self.start, in: turns)
        time.pay(at: Self.start + .microseconds(200))
        #expect(time.isTurn)
        time.workEnded(at: Self.start + .microseconds(400))
        #expect(!time.isTurn)

        turns.left(other)
        time.readBegan(at: Self.start, in: turns)
        time.workEnded(at: Self.start + .milliseconds(4))
        #expect(time.isTurn)
    }

    // MARK: - Downloads

    @Test func `reads ahead have a bound, in number and in bytes`() {
        var queue = DownloadQueue()
        #expect(queue.bytesOfNextRead(aheadBytesMax: 100_000) == nil, "nothing is to be read")
        queue.ready = [1]
        #expect(queue.bytesOfNextRead(aheadBytesMax: 100_000) == 50_000)
        queue.readBegan(bytes: 50_000)
        #expect(queue.bytesOfNextRead(aheadBytesMax: 100_000) == 50_000)
        queue.readBegan(bytes: 50_000)
        #expect(queue.bytesOfNextRead(aheadBytesMax: 100_000) == nil, "two reads go on")
        queue.readEnded()
        #expect(queue.bytesOfNextRead(aheadBytesMax: 100_000) == nil, "what was read has not left")
        queue.left(bytes: 50_000)
        #expect(queue.bytesOfNextRead(aheadBytesMax: 100_000) == 50_000)
    }

    @Test func `a flush says how much of downloads it takes along`() {
        var queue = DownloadQueue()
        queue.written(bytes: 10)
        queue.written(bytes: 20)
        #expect(queue.flushed() == 30)
        #expect(queue.flushed() == 0)
    }
}
