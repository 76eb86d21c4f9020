import Foundation
import RecordModel
import RecordStore
import SQLiteEngine
import StorageContract
import Synchronization
import TestSupport

/// Drives the engine without a network:
/// `EngineBenchmark [seconds] [folder] [part of a row's name]`, or `EngineBenchmark scale` (see
/// there).
///
/// Prints operations a second, and the processor time of each, which a busy machine distorts less.
@main
struct EngineBenchmark {
    static let records = 100_000
    /// Milliseconds since 1970.
    static let clock: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }

    private struct Row {
        let name: String
        let callers: Int
        /// Records a request.
        let count: Int
        let request: @Sendable (Target, _ caller: Int, _ count: Int, @escaping @Sendable () -> Void) -> Void
    }

    private static let rows = [
        Row(name: "save 1, 1 caller", callers: 1, count: 1) { $0.save($2, .plain, $3) },
        Row(name: "save 1, 16 callers", callers: 16, count: 1) { $0.save($2, .plain, $3) },
        Row(name: "save 1, 64 callers", callers: 64, count: 1) { $0.save($2, .plain, $3) },
        Row(name: "save 200 in own zones, 16 callers", callers: 16, count: 200) {
            $0.append($2, .plain, caller: $1, $3)
        },
        Row(name: "save 200 in one zone, 1 caller", callers: 1, count: 200) { $0.save($2, .plain, $3) },
        Row(name: "save 200 in one zone, 16 callers", callers: 16, count: 200) { $0.save($2, .plain, $3) },
        Row(name: "save 1 with four indexes, 64 callers", callers: 64, count: 1) {
            $0.save($2, .indexed, $3)
        },
        Row(name: "save 200 with four indexes in own zones, 16 callers", callers: 16, count: 200) {
            $0.append($2, .indexed, caller: $1, $3)
        },
        Row(name: "save 200 with four indexes in one zone, 16 callers", callers: 16, count: 200) {
            $0.save($2, .indexed, $3)
        },
        Row(name: "fetch 1, 1 caller", callers: 1, count: 1) { $0.fetch($2, $3) },
        Row(name: "fetch 200, 16 callers", callers: 16, count: 200) { $0.fetch($2, $3) },
    ]

    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count > 1, arguments[1] == "scale" {
            try await ScaleBenchmark.run(
                folder: arguments.count > 2 ? arguments[2] : FileManager.default.currentDirectoryPath,
                users: arguments.count > 3 ? Int(arguments[3])! : 1_000_000,
                records: arguments.count > 4 ? Int(arguments[4])! : 10_000_000
            )
            return
        }
        let seconds = arguments.count > 1 ? Double(arguments[1])! : 5
        let folder = arguments.count > 2 ? arguments[2] : FileManager.default.currentDirectoryPath
        let wanted = arguments.count > 3 ? arguments[3] : ""
        let path = folder + "/tidemark-bench-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = Store(
            try SQLiteEngine(
                configuration: SQLiteEngineConfiguration(directory: path, housekeeping: Housekeeping.maker()),
                clock: EngineBenchmark.clock,
                report: { print("event: \($0)") }
            ),
            configuration: StoreConfiguration(clock: EngineBenchmark.clock)
        )
        let target = try Target(store: store)
        let start = Date()
        await target.load()
        self.report(
            "load",
            records: Self.records * 2,
            seconds: Date().timeIntervalSince(start),
            cpu: 0,
            commits: 0
        )
        for row in self.rows where wanted.isEmpty || row.name.contains(wanted) {
            let commits = store.statistics.commits
            let cpu = clock()
            let start = Date()
            let requests = await target.run(callers: row.callers, seconds: seconds) { target, caller, done in
                row.request(target, caller, row.count, done)
            }
            self.report(
                row.name,
                records: requests * row.count,
                seconds: Date().timeIntervalSince(start),
                cpu: Double(clock() - cpu) / Double(CLOCKS_PER_SEC),
                commits: store.statistics.commits - commits
            )
        }
        await store.shutdown()
    }

    private static func report(_ name: String, records: Int, seconds: Double, cpu: Double, commits: UInt64) {
        let rate = Int(Double(records) / seconds)
        let microseconds = (cpu * 10_000_000 / Double(records)).rounded() / 10
        print("\(name): \(rate) records/s, \(microseconds) µs of processor time each, \(commits) commits")
    }
}

/// What records look like: about as large, and with as many fields.
enum Contents: String {
    /// No field has an index.
    case plain = "Plain"
    /// Four fields have one, and one of them is in the full text; all values differ from save to save.
    case indexed = "Indexed"

    var zone: ZoneID { ZoneID(zoneName: self.rawValue) }

    func body(using generator: inout SeededGenerator) -> RecordBody {
        let bytes = [
            Field(name: "data", value: .bytes([UInt8](repeating: 7, count: 60))),
            Field(name: "text", value: .bytes([UInt8](repeating: 120, count: 300))),
        ]
        let number = generator.next()
        let text = "title" + String(number, radix: 16)
        let integer = Int64(truncatingIfNeeded: number >> 16)
        switch self {
        case .plain:
            return RecordBody(
                bytes + [
                    Field(name: "count", value: .bytes(Array("\(integer % 10_000)".utf8))),
                    Field(name: "ratio", value: .bytes(Array("\(integer % 10_000_019)".utf8))),
                    Field(name: "title", value: .bytes(Array(text.utf8))),
                    Field(name: "when", value: .bytes(Array("\(integer % 10_000_079)".utf8))),
                ]
            )
        case .indexed:
            return RecordBody(
                bytes + [
                    Field(name: "count", value: .int64(integer % 10_000)),
                    Field(name: "ratio", value: .double(Double(integer))),
                    Field(name: "title", value: .string(text)),
                    Field(name: "when", value: .timestamp(Double(integer % 700_000_000))),
                ]
            )
        }
    }
}

/// One private database with one zone of records for each kind of contents, and one more for each caller.
final class Target: Sendable {
    static let callersMax = 64

    private let store: Store
    private let requester: Requester
    private let generator = Mutex(SeededGenerator(seed: 7))
    private let names: [String]
    /// Records that each caller saved in its own zone.
    private let appended = Mutex([Int](repeating: 0, count: callersMax))

    init(store: Store) throws {
        self.store = store
        self.names = (0..<EngineBenchmark.records).map { Self.name($0) }
        let token = [UInt8](repeating: 1, count: 32)
        let user = "_0123456789abcdef0123456789abcdef"
        try store.directory.createContainer("org.example.bench")
        try store.directory.addUser(
            named: "bench",
            userRecordName: user,
            tokenHash: token,
            toContainer: "org.example.bench"
        )
        let signIn = try store.directory.signIn(
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

    private static func own(_ caller: Int) -> ZoneID { ZoneID(zoneName: "own\(caller)") }

    func load() async {
        let zones = (0..<Self.callersMax).map { Self.own($0) }
        for contents in [Contents.plain, .indexed] {
            await self.write(.modifyZones(ModifyZones(scope: .private, saves: zones + [contents.zone])))
            for first in stride(from: 0, to: EngineBenchmark.records, by: 400) {
                await self.write(
                    self.operation(self.names[first..<first + 400], contents, in: contents.zone)
                )
            }
        }
    }

    /// Requests of callers that each wait for the answer before they ask again.
    func run(
        callers: Int,
        seconds: Double,
        _ request: @escaping @Sendable (Target, _ caller: Int, @escaping @Sendable () -> Void) -> Void
    ) async -> Int {
        let end = Date().addingTimeInterval(seconds)
        let count = Tally()
        await withTaskGroup { group in
            for caller in 0..<callers {
                group.addTask {
                    await withCheckedContinuation { (over: CheckedContinuation<Void, Never>) in
                        let request = { @Sendable (target: Target, done: @escaping @Sendable () -> Void) in
                            request(target, caller, done)
                        }
                        Caller(target: self, request: request, end: end, over: over) {
                            count.value.withLock { $0 += 1 }
                        }.next()
                    }
                }
            }
        }
        return count.value.withLock { $0 }
    }

    /// Saves records of the large zone, names at random.
    func save(_ count: Int, _ contents: Contents, _ done: @escaping @Sendable () -> Void) {
        var numbers: Set<Int> = []
        self.generator.withLock { generator in
            while numbers.count < count {
                numbers.insert(Int.random(in: 0..<EngineBenchmark.records, using: &generator))
            }
        }
        self.write(self.operation(numbers.map { self.names[$0] }, contents, in: contents.zone), done)
    }

    /// Saves new records in the caller's zone, names ascending.
    func append(
        _ count: Int,
        _ contents: Contents,
        caller: Int,
        _ done: @escaping @Sendable () -> Void
    ) {
        let first = self.appended.withLock { appended in
            defer { appended[caller] += count }
            return appended[caller]
        }
        let names = (first..<first + count).map { "record-\(10_000_000 + $0)" }
        self.write(self.operation(names, contents, in: Self.own(caller)), done)
    }

    func fetch(_ count: Int, _ done: @escaping @Sendable () -> Void) {
        let ids = self.generator.withLock { generator in
            (0..<count).map { _ in
                let number = Int.random(in: 0..<EngineBenchmark.records, using: &generator)
                return RecordID(zone: Contents.plain.zone, recordName: self.names[number])
            }
        }
        self.store.fetchRecords(ids, desiredKeys: nil, for: self.requester) { result in
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
        self.store.write(request) { result in
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

    private func operation(
        _ names: some Collection<String>,
        _ contents: Contents,
        in zone: ZoneID
    ) -> WriteRequest.Operation {
        // Of its own, so that callers don't wait for one another while they make bodies.
        var generator = self.generator.withLock { SeededGenerator(seed: $0.next()) }
        let saves = names.map {
            RecordSave(
                id: RecordID(zone: zone, recordName: $0),
                recordType: contents.rawValue,
                changes: contents.body(using: &generator)
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
