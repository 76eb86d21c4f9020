import Admission
import NIOCore
import NIOPosix
import Testing

@testable import RecordServer

/// TLS handshakes of an event loop, in turns by address.
@Suite(.timeLimit(.minutes(10)))
struct HandshakeTurnsTests {
    /// On its event loop only.
    private final class Order {
        var names: [String] = []
    }

    @Test func `an address that begins many handshakes delays another by one of them`() async throws {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let done = eventLoop.makePromise(of: [String].self)
        try await eventLoop.submit {
            let turns = HandshakeTurns(eventLoop: eventLoop)
            let order = Order()
            func begin(_ name: String) {
                turns.ask(of: .address(name)) {
                    order.names.append(name)
                    if order.names.count == 22 { done.succeed(order.names) }
                }
            }
            for _ in 0..<20 { begin("greedy") }
            begin("modest")
            begin("another")
            // The first begins at once, the others when the loop has looked for what came.
            #expect(order.names == ["greedy"])
        }.get()
        let names = try await done.futureResult.get()
        #expect(names.prefix(5).contains("modest") && names.prefix(5).contains("another"))
    }

    @Test func `connections that come together get in all the same`() async throws {
        try await ServerUnderTest.run { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 { group.addTask { try await HandshakeTests.expectService(of: server) } }
                try await group.waitForAll()
            }
        }
    }
}
