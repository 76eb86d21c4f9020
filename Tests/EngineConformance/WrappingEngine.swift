import StorageContract

/// An engine that passes on to another one what it does not do itself.
protocol WrappingEngine: StorageEngine, LoadGate {
    var engine: any StorageEngine & LoadGate { get }
}

extension WrappingEngine {
    func write(_ job: WriteJob) { self.engine.write(job) }

    func read(_ job: ReadJob) { self.engine.read(job) }

    var mayReject: Bool { self.engine.mayReject }

    func rejection(ofChangeBy requester: Requester, records: Int, bytes: Int) -> StoreError? {
        self.engine.rejection(ofChangeBy: requester, records: records, bytes: bytes)
    }

    var figures: LoadFigures { self.engine.figures }

    func readTables<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value {
        try self.engine.readTables(read)
    }

    func administer<Value: Sendable>(
        _ work: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) throws -> Value {
        try self.engine.administer(work)
    }

    func report(to observer: any CommitObserver) { self.engine.report(to: observer) }

    var condition: StorageCondition { self.engine.condition }

    var statistics: EngineStatistics { self.engine.statistics }

    func shutdown() async { await self.engine.shutdown() }
}

extension WriteJob {
    /// The same job with another execution.
    func executing(
        _ execute: @escaping @Sendable (any WriteTransaction) throws(StorageFailure) -> Progress
    ) -> WriteJob {
        WriteJob(
            schedule: self.schedule,
            requester: self.requester,
            records: self.records,
            bytes: self.bytes,
            deadlineMilliseconds: self.deadlineMilliseconds,
            origin: self.origin,
            makesRoom: self.makesRoom,
            takesTurn: self.takesTurn,
            execute: execute,
            fail: self.fail
        )
    }
}
