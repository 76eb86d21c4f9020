import Foundation
import RecordModel
import RecordStore
import SQLiteEngine
import Synchronization
import TestSupport

/// Drives the engine without a network: `EngineBenchmark [seconds] [folder]`.
///
/// Prints operations a second, and the processor time of each, which a busy machine distorts less.
@main
struct EngineBenchmark {
    static let records = 100_000

    static func main() async throws {
        let arguments = CommandLine.arguments
        let seconds = arguments.count > 1 ? Double(arguments[1])! : 5
        let folder = arguments.count > 2 ? arguments[2] : FileManager.default.currentDirectoryPath
        let path = folder + "/tidemark-bench-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let engine = try SQLiteEngine(
            configuration: SQLiteEngineConfiguration(directory: path),
            clock: { Int64(Date().timeIntervalSince1970 * 1_000) },
            report: { print("event: \($0)") }
        )
        let target = try Target(engine: engine)
        print("load, 400 a request:", await target.load(), "records/s")
        for (label, callers, batch) in [
            ("save 1, 1 caller", 1, 1), ("save 1, 16 callers", 16, 1), ("save 1, 64 callers", 64, 1),
            ("save 200, 1 caller", 1, 200), ("save 200, 16 callers", 16, 200),
            ("save 1, 64 callers again", 64, 1),
        ] {
            let before = engine.statistics.commits
            let recordsBefore = engine.statistics.recordsWritten
            let cpu = clock()
            let rate = await target.run(callers: callers, seconds: seconds) { target, done in
                target.save(count: batch, done)
            }
            let commits = engine.statistics.commits - before
            let perRecord =
                Double(clock() - cpu) / Double(engine.statistics.recordsWritten - recordsBefore)
                * 1_000_000 / Double(CLOCKS_PER_SEC)
            print("CPU µs a record:", (perRecord * 10).rounded() / 10, terminator: "  ")
            print("\(label):", Int(rate * Double(batch)), "records/s,", commits, "commits")
        }
        for count in [1, 200] {
            let cpu = clock()
            let rate = await target.run(callers: count == 1 ? 1 : 16, seconds: seconds) { target, done in
                target.fetch(count: count, done)
            }
            print(
                "CPU µs a record:",
                Double(clock() - cpu) / (rate * Double(count) * seconds) * 1_000_000 / Double(CLOCKS_PER_SEC),
                terminator: "  "
            )
            print("fetch \(count):", Int(rate * Double(count)), "records/s")
        }
        await engine.shutdown()
    }
}

/// One private database with one zone of records.
final class Target: Sendable {
    private let engine: SQLiteEngine
    private let requester: Requester
    private let generator = Mutex(SeededGenerator(seed: 7))
    private let zone = ZoneID(zoneName: "bench")

    init(engine: SQLiteEngine) throws {
        self.engine = engine
        let token = [UInt8](repeating: 1, count: 32)
        let user = "_0123456789abcdef0123456789abcdef"
        try engine.directory.createContainer("org.example.bench")
        try engine.directory.addUser(
            named: "bench",
            userRecordName: user,
            tokenHash: token,
            toContainer: "org.example.bench"
        )
        let signIn = try engine.directory.signIn(
            container: "org.example.bench",
            environment: .development,
            tokenHash: token
        )
        self.requester = Requester(
            database: signIn.privateDatabase!,
            scope: .private,
            environment: signIn.environment,
            userRecordName: user
        )
    }

    func load() async -> Int {
        await self.write(.modifyZones(ModifyZones(scope: .private, saves: [self.zone])))
        let start = Date()
        for first in stride(from: 0, to: EngineBenchmark.records, by: 400) {
            await self.write(self.operation((first..<first + 400).map { $0 }))
        }
        return Int(Double(EngineBenchmark.records) / Date().timeIntervalSince(start))
    }

    /// Requests a second of callers that each wait for the answer before they ask again.
    func run(
        callers: Int,
        seconds: Double,
        _ request: @escaping @Sendable (Target, @escaping @Sendable () -> Void) -> Void
    ) async -> Double {
        let end = Date().addingTimeInterval(seconds)
        let count = Tally()
        let start = Date()
        await withTaskGroup { group in
            for _ in 0..<callers {
                group.addTask {
                    await withCheckedContinuation { (over: CheckedContinuation<Void, Never>) in
                        Caller(target: self, request: request, end: end, over: over) {
                            count.value.withLock { $0 += 1 }
                        }.next()
                    }
                }
            }
        }
        return Double(count.value.withLock { $0 }) / Date().timeIntervalSince(start)
    }

    func save(count: Int, _ done: @escaping @Sendable () -> Void) {
        var numbers: Set<Int> = []
        self.generator.withLock { generator in
            while numbers.count < count {
                numbers.insert(Int.random(in: 0..<EngineBenchmark.records, using: &generator))
            }
        }
        self.write(self.operation(Array(numbers)), done)
    }

    func fetch(count: Int, _ done: @escaping @Sendable () -> Void) {
        let ids = self.generator.withLock { generator in
            (0..<count).map { _ in
                RecordID(
                    zone: self.zone,
                    recordName: Self.name(Int.random(in: 0..<EngineBenchmark.records, using: &generator))
                )
            }
        }
        self.engine.fetchRecords(ids, desiredKeys: nil, for: self.requester) { result in
            guard case .success(let outcomes) = result, case .record = outcomes[0] else {
                preconditionFailure("\(result)")
            }
            done()
        }
    }

    private func write(_ operation: WriteRequest.Operation) async {
        await withCheckedContinuation { continuation in self.write(operation) { continuation.resume() } }
    }

    private func write(_ operation: WriteRequest.Operation, _ done: @escaping @Sendable () -> Void) {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let id = self.generator.withLock { RequestID(milliseconds: now, using: &$0) }
        let request = WriteRequest(
            requester: self.requester,
            requestID: id,
            operation: operation,
            bytes: 600,
            deadlineMilliseconds: .max
        )
        self.engine.write(request) { result in
            guard case .success(let outcomes) = result,
                outcomes.allSatisfy({ if case .failed = $0 { false } else { true } })
            else { preconditionFailure("\(result)") }
            done()
        }
    }

    private static func name(_ number: Int) -> String {
        var generator = SeededGenerator(seed: UInt64(number))
        return String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
    }

    private static let body = RecordBody([
        Field(name: "title", value: .string(String(repeating: "t", count: 60))),
        Field(name: "text", value: .string(String(repeating: "x", count: 300))),
        Field(name: "count", value: .int64(4711)),
        Field(name: "ratio", value: .double(0.5)),
        Field(name: "when", value: .timestamp(700_000_000)),
        Field(name: "data", value: .bytes([UInt8](repeating: 7, count: 60))),
    ])

    private func operation(_ numbers: [Int]) -> WriteRequest.Operation {
        let saves = numbers.map {
            RecordSave(
                id: RecordID(zone: self.zone, recordName: Self.name($0)),
                recordType: "Bench",
                changes: Self.body
            )
        }
        return .modifyRecords(ModifyRecords(scope: .private, saves: saves, policy: .changedKeys))
    }
}

private final class Tally: Sendable {
    let value = Mutex(0)
}

/// Asks again as soon as it is answered.
///
/// An answer that comes before the question returns is taken in a loop, or the stack would grow.
private final class Caller: Sendable {
    private let target: Target
    private let request: @Sendable (Target, @escaping @Sendable () -> Void) -> Void
    private let end: Date
    private let over: CheckedContinuation<Void, Never>
    private let count: @Sendable () -> Void
    private let state = Mutex((isAsking: false, isAnswered: false))

    init(
        target: Target,
        request: @escaping @Sendable (Target, @escaping @Sendable () -> Void) -> Void,
        end: Date,
        over: CheckedContinuation<Void, Never>,
        count: @escaping @Sendable () -> Void
    ) {
        self.target = target
        self.request = request
        self.end = end
        self.over = over
        self.count = count
    }

    func next() {
        while true {
            guard Date() < self.end else {
                self.over.resume()
                return
            }
            self.state.withLock { $0 = (isAsking: true, isAnswered: false) }
            self.request(self.target) {
                self.count()
                let mustAsk = self.state.withLock { state in
                    state.isAnswered = true
                    return !state.isAsking
                }
                if mustAsk { self.next() }
            }
            let isAnswered = self.state.withLock { state in
                state.isAsking = false
                return state.isAnswered
            }
            guard isAnswered else { return }
        }
    }
}
