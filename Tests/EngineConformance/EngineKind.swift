import Admission
import MemoryEngine
import PostgreSQLCluster
import PostgreSQLEngine
import RecordModel
import RecordStore
import SQLiteEngine
import StorageContract
import TestSupport
import Testing

/// What makes an engine for a test: the one place that names engines.
enum EngineKind: String, CaseIterable, CustomTestStringConvertible {
    case sqlite
    /// The same, with failures at random that no user notices.
    case sqliteWithFailures
    /// Values that are copied.
    case memory
    case postgreSQL
    /// The same, with failures at random, as those of a network.
    case postgreSQLWithFailures

    static let allCases: [EngineKind] = [.sqlite, .memory, .postgreSQL]
    /// Those whose disk a test can fill or have fail.
    static let withOwnDisk: [EngineKind] = [.sqlite, .memory]
    /// Those that try a short read on the thread of its caller.
    static let readingOnCaller: [EngineKind] = [.sqlite, .memory]
    /// What tests run on that compare an engine with a model.
    static let modelCases: [EngineKind] = [
        .sqlite, .sqliteWithFailures, .memory, .postgreSQL, .postgreSQLWithFailures,
    ]

    var testDescription: String { self.rawValue }

    /// How many rounds of a random test the kind gets, of so many: a part of them if nobody ships it, or
    /// if every step of it goes to another process.
    func rounds(_ count: Int, divisor: Int = 4) -> Int {
        switch self {
        case .sqlite, .sqliteWithFailures: count
        case .memory: count / divisor
        case .postgreSQL, .postgreSQLWithFailures: max(1, count / (3 * divisor))
        }
    }

    func open(
        in directory: String,
        clock: ManualClock,
        configure: (inout EngineSettings) -> Void = { _ in },
        report: @escaping @Sendable (EngineEvent) -> Void = { _ in }
    ) throws -> Store {
        var settings = EngineSettings()
        configure(&settings)
        let failures = settings.failures ?? self.failures
        let rules = settings.rules(clock: clock)
        switch self {
        case .sqlite, .sqliteWithFailures:
            let engine = try SQLiteEngine(
                configuration: SQLiteEngineConfiguration(settings, directory: directory),
                clock: { clock.milliseconds },
                report: report
            )
            if let turns = settings.turns {
                return Store(MeasuredEngine(engine, turns), configuration: rules)
            }
            guard let failures else { return Store(engine, configuration: rules) }
            return Store(FailingEngine(engine, failures), configuration: rules)
        case .memory:
            let engine = MemoryEngine(MemoryEngineConfiguration(settings, directory: directory, clock))
            guard let failures else { return Store(engine, configuration: rules) }
            return Store(FailingEngine(engine, failures), configuration: rules)
        case .postgreSQL, .postgreSQLWithFailures:
            let engine = try PostgreSQLEngine(
                configuration: PostgreSQLEngineConfiguration(settings, directory: directory),
                clock: { clock.milliseconds },
                report: report
            )
            guard let failures else { return Store(engine, configuration: rules) }
            return Store(FailingEngine(engine, failures), configuration: rules)
        }
    }

    /// The failures of the kind; `nil` if there are none.
    private var failures: (@Sendable () -> InjectedFailure?)? {
        guard self == .sqliteWithFailures || self == .postgreSQLWithFailures else { return nil }
        let failures = RandomFailures(seed: SeededGenerator.fromEnvironment().seed)
        return { failures.next() }
    }
}

/// What a test may ask of any engine.
struct EngineSettings {
    var bounds = Bounds.defaults
    var waitingRequestsMax = 4_096
    var waitingBytesMax = 64 * 1024 * 1024
    /// A disk that is full after so many pages.
    var filePagesMax: Int?
    var queryBudget = QueryBudget.defaults
    var inlineQueryCostMax = 4_096
    var inlineQueryComparisonsMax = 4_000
    var feedReadsMax = 20_000
    var feedBytesReadMax = FeedBudget.defaults.bytesReadMax
    var tombstoneRetentionSeconds = 31_536_000
    var commitRecordsMax = 4_000
    /// How long a log may keep what was deleted.
    var logSecondsMax: Int64 = 3_600
    var quotas = StorageQuotas.none
    var readThreads = 2
    var readerWaitNanoseconds: Int64 = 25_000_000
    /// The clock by which the engine measures what requests take; a real one if `nil`.
    var time: ManualClock?
    /// The failure that the next job meets.
    var failures: (@Sendable () -> InjectedFailure?)?
    /// Measures what each transaction costs SQLite's engine.
    var turns: TurnMeter?
    /// Takes the place of the system's call that makes a file durable; without it nothing is made
    /// durable at all.
    var syncFile: (@Sendable (Int32) -> Int32)?
    /// Changes what PostgreSQL's engine is given.
    var postgreSQL: @Sendable (inout PostgreSQLEngineConfiguration) -> Void = { _ in }

    fileprivate var housekeeping: MakeHousekeeper {
        var rules = HousekeepingRules()
        rules.tombstoneRetentionSeconds = self.tombstoneRetentionSeconds
        return Housekeeping.maker(rules)
    }

    /// What the store above the engine is told, whatever the engine.
    func rules(clock: ManualClock) -> StoreConfiguration {
        var rules = StoreConfiguration { clock.milliseconds }
        rules.bounds = self.bounds
        rules.quotas = self.quotas
        rules.reading.queries = self.queryBudget
        rules.reading.queryAttempt.costMax = self.inlineQueryCostMax
        rules.reading.queryAttempt.comparisonsMax = self.inlineQueryComparisonsMax
        rules.reading.feedReadsMax = self.feedReadsMax
        rules.reading.feedBytesReadMax = self.feedBytesReadMax
        rules.reading.responseBytesMax = self.bounds.responseBytesMax
        return rules
    }
}

extension SQLiteEngineConfiguration {
    fileprivate init(_ settings: EngineSettings, directory: String) {
        self.init(directory: directory, housekeeping: settings.housekeeping)
        self.durability = .relaxed
        self.queues.waitingRequestsMax = settings.waitingRequestsMax
        self.queues.waitingBytesMax = settings.waitingBytesMax
        self.filePagesMax = settings.filePagesMax
        self.queues.commitRecordsMax = settings.commitRecordsMax
        self.logSecondsMax = settings.logSecondsMax
        self.queues.readThreads = settings.readThreads
        self.queues.readerWaitNanoseconds = settings.readerWaitNanoseconds
        if let time = settings.time {
            self.monotonicNanoseconds = { time.milliseconds * 1_000_000 }
        }
        if let syncFile = settings.syncFile {
            self.durability = .full
            self.syncFile = syncFile
        }
    }
}

extension MemoryEngineConfiguration {
    /// Pages of an empty file, in which a memory has nothing.
    private static let emptyPages = 60
    private static let pageBytes = 4_096

    fileprivate init(_ settings: EngineSettings, directory: String, _ clock: ManualClock) {
        let start = ContinuousClock.now
        self.init(
            folder: directory,
            housekeeping: settings.housekeeping,
            clock: { clock.milliseconds },
            monotonicNanoseconds: {
                settings.time.map { $0.milliseconds * 1_000_000 }
                    ?? Int64((ContinuousClock.now - start) / .nanoseconds(1))
            }
        )
        self.queues.waitingRequestsMax = settings.waitingRequestsMax
        self.queues.waitingBytesMax = settings.waitingBytesMax
        self.bytesMax = settings.filePagesMax.map { Int64(($0 - Self.emptyPages) * Self.pageBytes) }
        self.queues.commitRecordsMax = settings.commitRecordsMax
        self.queues.readThreads = settings.readThreads
        self.queues.readerWaitNanoseconds = settings.readerWaitNanoseconds
        if let syncFile = settings.syncFile { self.sync = { syncFile(0) } }
    }
}

extension PostgreSQLEngineConfiguration {
    fileprivate init(_ settings: EngineSettings, directory: String) throws {
        self.init(
            target: try PostgreSQLCluster.running().target(standingFor: directory),
            role: .server(node: "\(directory) \(UInt64.random(in: .min ... .max))"),
            housekeeping: settings.housekeeping
        )
        self.queues.waitingRequestsMax = settings.waitingRequestsMax
        self.queues.waitingBytesMax = settings.waitingBytesMax
        self.queues.commitRecordsMax = settings.commitRecordsMax
        self.queues.readThreads = settings.readThreads
        self.queues.readerWaitNanoseconds = settings.readerWaitNanoseconds
        if let syncFile = settings.syncFile { self.mayCommit = { syncFile(0) == 0 } }
        if let time = settings.time {
            self.monotonicNanoseconds = { time.milliseconds * 1_000_000 }
        }
        settings.postgreSQL(&self)
    }
}
