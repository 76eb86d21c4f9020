import NIOCore
import NIOPosix
package import RecordStore
import Synchronization

/// What a server does now, in the order of its life.
package enum ServerPhase: UInt8, AtomicRepresentable, Sendable {
    /// It does not listen yet.
    case starting
    case serving
    /// It takes no new requests, and answers those that came.
    case draining
    case stopped
}

extension RecordServer {
    /// Whether every event loop executes something within a time.
    ///
    /// A server without loops has none that hangs.
    package func loopsAnswer(within timeout: Duration) async -> Bool {
        await self.context.loops.answer(within: TimeAmount(timeout))
    }

    /// Whether the store writes changes now.
    package var storeCondition: StorageCondition { self.context.store.condition }

    /// Whether the store can be read now.
    package func storeAnswers() async -> Bool {
        let directory = self.context.store.directory
        // One look at an index: the version is larger than any change.
        let changes = try? await NIOThreadPool.singleton.runIfActive {
            try directory.credentialChanges(after: .max)
        }
        return changes != nil
    }
}

extension ServedLoops {
    func answer(within timeout: TimeAmount) async -> Bool {
        let timer = MultiThreadedEventLoopGroup.singleton.next()
        let answer = timer.makePromise(of: Bool.self)
        // Loops that come too late find it answered.
        let deadline = timer.scheduleTask(in: timeout) { answer.succeed(false) }
        Task {
            await self.response()
            answer.succeed(true)
        }
        let answers = (try? await answer.futureResult.get()) ?? false
        deadline.cancel()
        return answers
    }
}
