import RecordStore
import SQLiteEngine
import Synchronization
import TestSupport
import Testing

@testable import RecordServer

/// The response of all threads that serve, which a watchdog asks for.
@Suite(.timeLimit(.minutes(10)))
struct LivenessTests {
    /// Asks all threads while one of them hangs, and lets it go on after `meanwhile`.
    private func expectNoResponse(
        of server: RecordServer,
        before release: () -> Void,
        meanwhile: () async throws -> Void
    ) async throws {
        let hasResponded = Atomic(false)
        async let response: Void = {
            await server.threadsResponse()
            hasResponded.store(true, ordering: .relaxed)
        }()
        // The other threads would have responded many times.
        for _ in 0..<50 { try await meanwhile() }
        let isEarly = hasResponded.load(ordering: .relaxed)
        release()
        await response
        #expect(!isEarly)
    }

    @Test(arguments: [0, 1])
    func `an event loop that hangs lets the response wait`(number: Int) async throws {
        try await ServerUnderTest.run { server in
            await server.server.threadsResponse()
            let gate = Gate()
            server.server.context.loops.onEach { if $0.number == number { gate.wait() } }
            try await self.expectNoResponse(of: server.server, before: { gate.open() }) {
                await server.store.writerResponse()
            }
        }
    }

    @Test
    func `a writer that hangs lets the response wait`() async throws {
        let disk = StandingDisk()
        try await ServerUnderTest.run(
            configureEngine: { configuration in
                configuration.durability = .full
                configuration.syncFile = { disk.sync($0) }
            }
        ) { server in
            await server.server.threadsResponse()
            disk.hold()
            try await self.expectNoResponse(of: server.server, before: { disk.release() }) {
                await server.server.context.loops.response()
            }
        }
    }

    @Test
    func `a server that was stopped hangs nobody`() async throws {
        try await ServerUnderTest.run { server in
            await server.server.shutdown(grace: .zero)
            await server.server.threadsResponse()
            await server.store.shutdown()
            await server.server.threadsResponse()
        }
    }
}
