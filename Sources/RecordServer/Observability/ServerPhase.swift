import NIOCore
import NIOPosix
import RecordStore
package import StorageContract
import Synchronization

/// The phases of a server, in order.
package enum ServerPhase: UInt8, AtomicRepresentable, Sendable {
    /// It does not listen yet.
    case starting
    case serving
    /// It refuses new requests, and answers those in flight.
    case draining
    case stopped
}

extension RecordServer {
    /// Whether every event loop executes a task within a time.
    ///
    /// `true` for a server without loops.
    package func loopsAnswer(within timeout: Duration) async -> Bool {
        await self.context.loops.answer(within: TimeAmount(timeout))
    }

    /// Whether the store currently accepts changes.
    package var storeCondition: StorageCondition { self.context.store.condition }

    /// Whether the store can currently be read.
    package func storeAnswers() async -> Bool {
        let directory = self.context.store.directory
        // One index look-up: no change has a larger version.
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
        // Later replies have no effect.
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
