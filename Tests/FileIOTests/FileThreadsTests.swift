import FileIO
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct FileThreadsTests {
    /// The niceness of the calling thread.
    private static var niceness: Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

    private struct Failed: Error {}

    /// Jobs that run when the test says so.
    private final class Queue: Sendable {
        private let jobs = Mutex<[FileThreads.Job]>([])

        var threads: FileThreads { FileThreads { job in self.jobs.withLock { $0.append(job) } } }

        var count: Int { self.jobs.withLock { $0.count } }

        func runFirst() { self.jobs.withLock { $0.removeFirst() }() }
    }

    private final class Log: Sendable {
        private let entries = Mutex<[String]>([])

        var all: [String] { self.entries.withLock { $0 } }

        func add(_ entry: String) { self.entries.withLock { $0.append(entry) } }
    }

    @Test(arguments: [FileThreads.Priority.normal, .low])
    func `jobs run with the priority of their threads, and nothing else does`(
        priority: FileThreads.Priority
    ) async throws {
        let threads = FileThreads(count: 1, priority: priority)
        threads.start()
        let before = Self.niceness
        let niceness = await threads.result { Self.niceness }
        #expect(niceness == (priority == .low ? 10 : before))
        await threads.shutdown()
        // After shutdown the calling thread runs the job.
        let mine = Self.niceness
        let log = Log()
        threads.run { log.add("run") }
        #expect(log.all == ["run"])
        #expect(Self.niceness == mine)
    }

    @Test func `the error of a job is thrown to its caller`() async throws {
        let threads = FileThreads(count: 1, priority: .normal)
        threads.start()
        await #expect(throws: Failed.self) {
            try await threads.result { () throws(Failed) in throw Failed() }
        }
        await threads.shutdown()
    }

    @Test func `shutdown waits for all submitted jobs`() async throws {
        let threads = FileThreads(count: 2, priority: .normal)
        threads.start()
        let log = Log()
        for number in 0..<100 { threads.run { log.add("\(number)") } }
        await threads.shutdown()
        #expect(log.all.count == 100)
    }

    @Test func `a lane runs its jobs in order, one at a time`() async throws {
        let threads = FileThreads(count: 4, priority: .normal)
        threads.start()
        let lane = FileLane(on: threads)
        let log = Log()
        for number in 0..<500 { lane.submit { log.add("\(number)") } }
        await withCheckedContinuation { continuation in lane.submit { continuation.resume() } }
        await threads.shutdown()
        #expect(log.all == (0..<500).map { "\($0)" })
    }

    @Test func `after four jobs a lane lets another one have the thread`() {
        let queue = Queue()
        let log = Log()
        let (first, second) = (FileLane(on: queue.threads), FileLane(on: queue.threads))
        for number in 0..<6 { first.submit { log.add("first \(number)") } }
        second.submit { log.add("second") }
        #expect(queue.count == 2)
        while queue.count > 0 { queue.runFirst() }
        #expect(
            log.all == ["first 0", "first 1", "first 2", "first 3", "second", "first 4", "first 5"]
        )
    }

    @Test func `a job that is submitted meanwhile runs in the same turn`() {
        let queue = Queue()
        let log = Log()
        let lane = FileLane(on: queue.threads)
        lane.submit {
            log.add("first")
            lane.submit { log.add("second") }
        }
        queue.runFirst()
        #expect(log.all == ["first", "second"])
        #expect(queue.count == 0)
        lane.submit { log.add("third") }
        queue.runFirst()
        #expect(log.all == ["first", "second", "third"])
    }

    @Test func `a shared job runs once, on the first thread that asks for its result`() async throws {
        let threads = FileThreads(count: 1, priority: .normal)
        threads.start()
        let log = Log()
        let job = SharedJob {
            log.add("run")
            return 7
        }
        // The pool has not begun; the caller does not wait for it.
        let gate = Gate()
        threads.run { gate.wait() }
        threads.run { _ = job.result }
        #expect(job.result == 7)
        gate.open()
        await threads.shutdown()
        #expect(log.all == ["run"])
    }
}
