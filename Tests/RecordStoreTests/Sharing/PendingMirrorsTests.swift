import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// Reads of a shared database that have views brought up to date first.
struct PendingMirrorsTests {
    private let engine: OutboxEngine

    init() throws { self.engine = OutboxEngine(try SharingRows()) }

    /// Reads the zones of Bob's shared database, and says what the engine was asked for.
    private func read() -> [String] {
        let engine = self.engine
        let requester = Requester(
            database: SharingRows.bobsShared,
            scope: .shared,
            environment: SharingRows.environment,
            userRecordName: SharingRows.bob
        )
        let job = ReadJob(requester: requester, effort: .short) { (snapshot, _) throws(StorageFailure) in
            let zones = try snapshot.rows(RowRange(ZoneRow.byKey, SharingRows.bobsShared))
            return { engine.calls.append("reply with \(zones.count)") }
        } fail: { _ in
            engine.calls.append("fail")
        }
        PendingMirrors(engine: engine).read(job)
        return engine.calls
    }

    private func join() throws {
        let share = try self.engine.it.share("root")
        try self.engine.it.join(share)
    }

    @Test func `a read for which nothing waits is one read`() {
        #expect(self.read() == ["read", "reply with 0"])
    }

    @Test func `entries that wait are applied before the read`() throws {
        try self.join()
        #expect(self.read() == ["read", "write", "read", "reply with 1"])
    }

    @Test func `news of a share is waited for as a change of rights is`() throws {
        let share = try self.engine.it.share("root")
        try self.engine.it.join(share)
        try MirrorOutbox(self.engine.it.transaction).applyAll()
        try self.engine.it.transaction.noteChange(of: share.number)
        #expect(self.read() == ["read", "write", "read", "reply with 1"])
    }

    @Test func `a conflict has the entries applied again`() throws {
        try self.join()
        self.engine.failures = [.storage(.conflict), .storage(.outcomeUnknown)]
        #expect(self.read() == ["read", "failure", "failure", "write", "read", "reply with 1"])
    }

    @Test func `a read shows what is there if the entries cannot be applied`() throws {
        try self.join()
        self.engine.failures = [.diskFull]
        #expect(self.read() == ["read", "failure", "read", "reply with 0"])
        self.engine.calls = []
        self.engine.failures = Array(repeating: .storage(.conflict), count: 9)
        #expect(self.read().suffix(3) == ["failure", "read", "reply with 0"])
    }

    @Test func `a user who has no room to wait is refused`() throws {
        try self.join()
        self.engine.failures = [.overloaded(retryAfterMilliseconds: 7)]
        #expect(self.read() == ["read", "failure", "fail"])
    }
}

/// Executes jobs at once, over the rows of a scene of sharing, and notes them.
///
/// SAFETY: a test uses it on one thread.
private final class OutboxEngine: StorageEngine, @unchecked Sendable {
    let it: SharingRows
    var calls: [String] = []
    /// Failures of the next writes.
    var failures: [JobFailure] = []

    init(_ it: SharingRows) { self.it = it }

    func write(_ job: WriteJob) {
        if let failure = self.failures.first {
            self.failures.removeFirst()
            self.calls.append("failure")
            return job.fail(failure)
        }
        self.calls.append("write")
        do throws(StorageFailure) {
            if case .finished(let reply) = try job.execute(self.it.transaction) { reply() }
        } catch {
            job.fail(.storage(error))
        }
    }

    func read(_ job: ReadJob) {
        self.calls.append("read")
        do throws(StorageFailure) {
            try job.body(MemorySnapshot(tables: self.it.transaction.tables), false)?()
        } catch {
            job.fail(.storage(error))
        }
    }

    // MARK: What a read does not ask for

    func readTables<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value {
        throw SharingTestTransaction.absent
    }

    func administer<Value: Sendable>(
        _ work: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) throws -> Value { throw SharingTestTransaction.absent }

    func report(to observer: any CommitObserver) {}

    let condition = StorageCondition.works

    let statistics = EngineStatistics()

    func shutdown() async {}
}
