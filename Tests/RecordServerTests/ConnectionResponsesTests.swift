import NIOCore
import NIOEmbedded
import RecordStore
import StorageContract
import Testing
import Transport
import WireProtocol

@testable import RecordServer

/// From outcomes to frames, within windows and what the socket takes.
struct ConnectionResponsesTests {
    /// Three frames of items, the first two of almost 64 KiB.
    private static func large() -> Outcomes {
        let items = EncodedItems()
        let failure = Failure(StoreError.cancelled)
        while items.payloads.count < 2 { items.add(.failure(failure)) }
        items.finish()
        return .encoded(items)
    }

    private static let small = Outcomes.read([.failed(.cancelled)])

    @Test func `what fits leaves in the tick of its request, and counts for nobody`() throws {
        let embedded = try EmbeddedConnection()
        let responses = ConnectionResponses(embedded.connection)
        let response = embedded.open(1)
        responses.insert(response)
        responses.send(Self.small, on: response)
        embedded.connection.flush()
        #expect(try embedded.frames().map(\.kind) == [.items, .end])
        #expect(responses.heldBytes == 0 && embedded.account.responses.own == 0)
        #expect(responses[1] == nil)
    }

    @Test func `a response whose window is used up waits, counts, and goes on with credit`() throws {
        let windows = Windows(connectionBytes: 1_000_000, streamBytes: 1_000)
        let embedded = try EmbeddedConnection(windows: windows)
        let responses = ConnectionResponses(embedded.connection)
        let response = embedded.open(1)
        responses.insert(response)
        responses.send(Self.large(), on: response)
        embedded.connection.flush()
        #expect(try embedded.frames().count == 1)
        #expect(responses.heldBytes > 100_000)
        #expect(embedded.account.responses.own == responses.heldBytes)

        embedded.grant(1_000_000, on: 1)
        responses.resume()
        embedded.connection.flush()
        #expect(try embedded.frames().map(\.kind) == [.items, .items, .end])
        #expect(responses.heldBytes == 0 && embedded.account.responses.own == 0)
    }

    @Test func `streams that wait take turns, a frame each`() throws {
        let embedded = try EmbeddedConnection()
        let responses = ConnectionResponses(embedded.connection)
        embedded.channel.isWritable = false
        for stream in [1, 3] as [UInt32] {
            let response = embedded.open(stream)
            responses.insert(response)
            responses.send(Self.large(), on: response)
        }
        #expect(try embedded.frames().isEmpty)
        embedded.channel.isWritable = true
        responses.resume()
        embedded.connection.flush()
        let items = try embedded.frames().filter { $0.kind == .items }
        #expect(items.map(\.stream) == [1, 3, 1, 3, 1, 3])
    }

    @Test func `a client that gives no credit for too long is a slow reader`() throws {
        let embedded = try EmbeddedConnection(
            windows: Windows(connectionBytes: 1_000_000, streamBytes: 1_000)
        )
        let responses = ConnectionResponses(embedded.connection)
        let response = embedded.open(1)
        responses.insert(response)
        responses.send(Self.large(), on: response)
        embedded.advance(by: EmbeddedConnection.slowReaderTimeout)
        #expect(!embedded.connection.isOpen)
    }

    @Test func `what is cancelled while it waits ends, and what the engine has goes on`() throws {
        let embedded = try EmbeddedConnection()
        let responses = ConnectionResponses(embedded.connection)
        let waiting = embedded.open(1)
        let executing = embedded.open(3)
        responses.insert(waiting)
        responses.insert(executing)
        executing.stage = .executing
        responses.reserve(1_000, for: executing)
        #expect(responses.cancelled(1) == .ended)
        #expect(responses.cancelled(3) == .executing)
        #expect(responses.cancelled(5) == .goesOn)
        #expect(responses[1] == nil && responses[3] != nil)
        #expect(responses.heldBytes == 1_000)
    }

    @Test func `room is set aside for a response alone that the engine has not answered`() throws {
        let embedded = try EmbeddedConnection()
        let responses = ConnectionResponses(embedded.connection)
        let failed = embedded.open(1)
        responses.insert(failed)
        failed.stage = .executing
        responses.end(1, failure: Failure(StoreError.cancelled))
        responses.reserve(1_000, for: failed)
        #expect(responses.heldBytes == 0 && embedded.account.responses.own == 0)

        let reading = embedded.open(3)
        responses.insert(reading)
        reading.stage = .executing
        responses.reserve(1_000, for: reading)
        #expect(responses.heldBytes == 1_000 && embedded.account.responses.own == 1_000)
        responses.endReservation(of: reading)
        #expect(responses.heldBytes == 0 && embedded.account.responses.own == 0)
    }

    @Test func `the end of the connection gives back what its responses count for`() throws {
        let embedded = try EmbeddedConnection()
        let responses = ConnectionResponses(embedded.connection)
        embedded.channel.isWritable = false
        responses.countSocket(isFull: true)
        let response = embedded.open(1)
        responses.insert(response)
        responses.send(Self.large(), on: response)
        let reading = embedded.open(3)
        responses.insert(reading)
        reading.stage = .executing
        responses.reserve(1_000, for: reading)
        #expect(embedded.account.responses.own > ResponseRoom.socketBytesMax + 100_000)
        responses.removeAll()
        #expect(embedded.account.responses.own == 0 && responses.heldBytes == 0)
    }
}
