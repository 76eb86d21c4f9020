import NIOCore
import NIOEmbedded
import RecordStore
import Testing
import Transport
import WireProtocol

@testable import RecordServer

/// What the parts of a connection write through, and its end.
struct ConnectionTests {
    @Test func `frames of a tick leave together, and nothing before the flush`() throws {
        let embedded = try EmbeddedConnection()
        embedded.connection.write(End(), on: 1)
        embedded.connection.writeCredit(5)
        embedded.connection.writeCredit(0)
        #expect(try embedded.frames().isEmpty)
        embedded.connection.flush()
        let buffer = try #require(try embedded.channel.readOutbound(as: ByteBuffer.self))
        #expect(buffer.readableBytes > 2 * Frame.headerBytes)
        #expect(try embedded.frames().isEmpty)
    }

    @Test func `much is flushed before the end of a tick`() throws {
        let embedded = try EmbeddedConnection()
        embedded.connection.write(.items, stream: 1) { $0.writeRepeatingByte(0, count: 100_000) }
        embedded.connection.flushIfLarge()
        #expect(try embedded.frames().isEmpty)
        embedded.connection.write(.items, stream: 1) { $0.writeRepeatingByte(0, count: 100_000) }
        embedded.connection.flushIfLarge()
        #expect(try embedded.frames().count == 2)
    }

    @Test func `a socket that takes nothing for too long ends the connection`() throws {
        let embedded = try EmbeddedConnection()
        embedded.channel.isWritable = false
        embedded.connection.watchSocket()
        embedded.advance(by: EmbeddedConnection.slowReaderTimeout - .seconds(1))
        embedded.connection.watchSocket()
        #expect(embedded.connection.isOpen)
        embedded.advance(by: .seconds(1))
        #expect(!embedded.connection.isOpen)
        let goaway = try #require(try embedded.frames().first)
        #expect(try GoAway(decoding: goaway.payload).reason == .slowReader)
    }

    @Test func `a socket that takes bytes again begins a new time`() throws {
        let embedded = try EmbeddedConnection()
        embedded.channel.isWritable = false
        embedded.connection.watchSocket()
        embedded.advance(by: .seconds(20))
        embedded.channel.isWritable = true
        embedded.connection.socketOpened()
        embedded.channel.isWritable = false
        embedded.connection.watchSocket()
        embedded.advance(by: .seconds(20))
        #expect(embedded.connection.isOpen)
    }

    @Test func `the end is told once, and nothing is written after it`() throws {
        let embedded = try EmbeddedConnection()
        var ends = 0
        embedded.connection.ended = { ends += 1 }
        embedded.connection.close(.idle)
        embedded.connection.close(.slowReader)
        embedded.connection.channelClosed()
        embedded.connection.write(End(), on: 1)
        embedded.connection.flush()
        #expect(ends == 1)
        #expect(try embedded.frames().map(\.kind) == [.goaway])
        #expect(!embedded.channel.isActive)
    }

    @Test func `whoever asks hears that the socket has taken a flush`() throws {
        let embedded = try EmbeddedConnection()
        let eventLoop = embedded.channel.embeddedEventLoop
        var taken = 0
        embedded.connection.flushPromise = {
            let promise = eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenSuccess { taken += 1 }
            return promise
        }
        embedded.connection.write(End(), on: 1)
        embedded.connection.flush()
        embedded.connection.flush()
        eventLoop.run()
        #expect(taken == 1)
    }

    @Test func `a frame that leaves alone goes behind those of the tick, in parts`() throws {
        let embedded = try EmbeddedConnection()
        let promise = embedded.channel.eventLoop.makePromise(of: Void.self)
        embedded.connection.write(End(), on: 1)
        let frame = ByteBuffer(repeating: 7, count: 250)
        embedded.connection.write(alone: frame, partBytesMax: 100, promise: promise)
        var sizes: [Int] = []
        while let part = try embedded.channel.readOutbound(as: ByteBuffer.self) {
            sizes.append(part.readableBytes)
        }
        #expect(sizes.dropFirst() == [100, 100, 50])
        embedded.channel.embeddedEventLoop.run()
        try promise.futureResult.wait()
    }
}
