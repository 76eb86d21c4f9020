import Admission
package import EngineThreads
package import StorageContract
import Synchronization

/// The store in one database of a PostgreSQL server.
///
/// One thread writes, many waiting requests in one transaction. Readers have connections of their own and
/// never wait for it. A commit is seen only when it is durable, so no reply waits for a sync of ours.
///
/// Any number of servers have a store, each with a row of its own (`NodeRegistration`), and commands of an
/// operator write beside them.
package final class PostgreSQLEngine: QueuedEngine {
    package let queue: WriteQueue
    package let readQueues: ReadQueues
    private let writer: PostgreSQLWriter
    private let polling: ChangePolling
    /// The connection of `readTables`.
    private let tables: TableSession
    private let end = ShutdownLatch()
    /// Settings of PostgreSQL that were off at the start, and without which a crash loses commits.
    package let unsafeSettings: [String]

    /// Some 1,100 single saves, which one commit takes.
    private static let burst = OverloadRule.Settings.Burst(work: 8_192, nanoseconds: 1_000_000_000)

    /// Opens the store, and makes its tables where the role says so.
    ///
    /// The clock gives milliseconds since 1970. Both closures are called from any thread, `report` also
    /// while requests wait: be quick.
    ///
    /// - Throws: `PostgreSQLEngineError`.
    package init(
        configuration: PostgreSQLEngineConfiguration,
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) throws(PostgreSQLEngineError) {
        let beginning = try Self.begin(configuration)
        let (witness, reporting) = (beginning.witness, CommitReporting())
        let reachability = Reachability(report: report)
        let reportOfReads: @Sendable (EngineEvent) -> Void = { event in
            if case .storageUnavailable = event { reachability.failed(.reads) }
            report(event)
        }
        self.unsafeSettings = beginning.unsafeSettings
        self.polling = ChangePolling(
            configuration.target,
            reporting: reporting,
            witness: witness,
            clock: clock
        )
        self.queue = WriteQueue(
            configuration.queues,
            burst: Self.burst,
            time: configuration.monotonicNanoseconds
        )
        self.writer = PostgreSQLWriter(
            queue: self.queue,
            configuration: configuration,
            session: WriterSession(configuration, node: beginning.node, witness: witness),
            reachability: reachability,
            reporting: (own: reporting, others: self.polling),
            clock: clock,
            report: report
        )
        self.readQueues = ReadSession.start(
            configuration,
            witness: witness,
            reachability,
            clock: clock,
            report: reportOfReads
        )
        self.tables = TableSession(
            ReadSession(configuration.target, witness: witness, report: reportOfReads)
        )
        EngineThread.start("tidemark-poll") { [polling = self.polling] in polling.run() }
        EngineThread.start("tidemark-writer") { [writer = self.writer, end = self.end] in
            writer.run()
            end.happened()
        }
    }

    /// The store as it was opened; for a command without a registration and a witness.
    private struct Beginning {
        var node: NodeRegistration?
        var witness: ClusterWitness?
        var unsafeSettings: [String] = []
    }

    /// Opens the store for its role, and registers a server.
    private static func begin(
        _ configuration: PostgreSQLEngineConfiguration
    ) throws(PostgreSQLEngineError) -> Beginning {
        let opening = StoreOpening(target: configuration.target)
        let name: String
        switch configuration.role {
        case .server(let node): name = node
        case .command(let makesTables):
            _ = try opening.prepare(makesTables: makesTables)
            return Beginning()
        }
        _ = try opening.prepare(makesTables: true)
        let witness = ClusterWitness(
            isSynchronous: configuration.isSynchronous,
            notice: configuration.notice
        )
        do throws(PostgreSQLError) {
            let connection = try PostgreSQLConnection(configuration.target)
            let standby = try witness.lookForStandby(on: connection)
            if standby == .confirming {
                try witness.check(connection)
                let node = try NodeRegistration.begin(
                    named: name,
                    on: connection,
                    admission: configuration.admission
                )
                let unsafeSettings = DurabilitySettings.off(try connection.query(DurabilitySettings.sql))
                if !unsafeSettings.isEmpty { configuration.notice(.unsafeSettings(unsafeSettings)) }
                return Beginning(node: node, witness: witness, unsafeSettings: unsafeSettings)
            }
            throw PostgreSQLError(.refused(.standbyMissing), standby == .notConfigured ? "" : "disconnected")
        } catch {
            throw PostgreSQLEngineError(error, configuration.target)
        }
    }

    /// Makes the tables of an empty store, unless they are there, and returns the store's identity.
    @discardableResult
    package static func prepare(_ target: ConnectionTarget) throws(PostgreSQLEngineError) -> [UInt8] {
        try StoreOpening(target: target).prepare(makesTables: true)
    }

    /// Checks server and database as an engine does that makes its tables, and makes none.
    package static func check(_ target: ConnectionTarget) throws(PostgreSQLEngineError) {
        do throws(PostgreSQLEngineError) {
            _ = try StoreOpening(target: target).prepare(makesTables: false)
        } catch {
            switch error {
            case .isMissing: return
            default: throw error
            }
        }
    }

    /// The identity of the store in a database; `nil` if there is none, or a move has not completed it.
    package static func identity(_ target: ConnectionTarget) throws(PostgreSQLEngineError) -> [UInt8]? {
        do throws(PostgreSQLEngineError) {
            return try StoreOpening(target: target).prepare(makesTables: false)
        } catch {
            switch error {
            case .isMissing, .moveIsUnfinished: return nil
            default: throw error
            }
        }
    }

    deinit {
        self.queue.close()
        self.readQueues.close()
        self.polling.close()
    }

    package var prefetches: Bool { true }

    package func read(_ job: ReadJob) { self.readQueues.add(job) }

    package func readTables<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value {
        try self.tables.read(read)
    }

    package func report(to observer: any CommitObserver) { self.writer.report(to: observer) }

    package var condition: StorageCondition {
        self.writer.room.isFull ? .full : .works
    }

    package var statistics: EngineStatistics { self.writer.statistics }

    package func shutdown() async {
        self.queue.close()
        self.readQueues.close()
        self.polling.close()
        await self.end.wait()
    }
}
