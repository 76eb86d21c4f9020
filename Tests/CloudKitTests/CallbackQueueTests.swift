import Foundation
import Synchronization
import Testing

@testable import CloudKit

@Suite struct CallbackQueueTests {
    /// What ran, in order.
    private final class Runs: Sendable {
        private let runs = Mutex<[(writer: Int, number: Int)]>([])
        private let running = Mutex(0)

        func run(_ writer: Int, _ number: Int) {
            let others = self.running.withLock { running in
                defer { running += 1 }
                return running
            }
            #expect(others == 0)
            self.runs.withLock { $0.append((writer, number)) }
            self.running.withLock { $0 -= 1 }
        }

        func numbers(of writer: Int) -> [Int] {
            self.runs.withLock { $0.filter { $0.writer == writer }.map(\.number) }
        }
    }

    private static func settle(_ queue: CallbackQueue) async {
        await withCheckedContinuation { done in queue.run { done.resume() } }
    }

    @Test func `callbacks run in order and one at a time, from whatever thread`() async {
        let (queue, runs) = (CallbackQueue(name: "test"), Runs())
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<200 {
                        queue.run { runs.run(writer, number) }
                        if number.isMultiple(of: 10) { await Task.yield() }
                    }
                }
            }
        }
        await Self.settle(queue)
        for writer in 0..<4 { #expect(runs.numbers(of: writer) == Array(0..<200)) }
    }

    @Test func `a callback that another one adds runs after those that wait`() async {
        let (queue, runs) = (CallbackQueue(name: "test"), Runs())
        queue.run {
            queue.run { runs.run(0, 2) }
            runs.run(0, 1)
        }
        await Self.settle(queue)
        await Self.settle(queue)
        #expect(runs.numbers(of: 0) == [1, 2])
    }
}
