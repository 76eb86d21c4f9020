import EngineThreads
import StorageContract

/// Schedules the writer's housekeeping: beside requests, between batches, and while it is idle.
///
/// One server of a store does the housekeeping, by a lease in the store's row. The others only
/// update the shared databases that follow their own changes.
///
/// Used on the writer's thread alone.
final class HousekeepingSchedule {
    private let runner: TransactionRunner
    private let room: RoomProbe
    private let configuration: PostgreSQLEngineConfiguration
    private let now: () -> Int64
    private let report: @Sendable (EngineEvent) -> Void
    /// When the last step between two batches ended.
    private var lastStep: Int64
    private var batchesSinceStep = 0

    /// The pause between two steps while requests wait.
    private static let pauseNanoseconds: Int64 = 20_000_000
    /// Maximum number of batches between two steps, with or without known work.
    private static let batchesMax = 250

    init(
        _ runner: TransactionRunner,
        room: RoomProbe,
        configuration: PostgreSQLEngineConfiguration,
        now: @escaping () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.runner = runner
        self.room = room
        self.configuration = configuration
        self.now = now
        self.report = report
        self.lastStep = now()
    }

    private var housekeeping: any Housekeeper { self.runner.housekeeping }

    private func milliseconds(untilStepFrom now: Int64) -> Int64? {
        self.housekeeping.milliseconds(
            untilStepFrom: now,
            onFullDisk: false,
            knowing: self.runner.knowledge
        )
    }

    // MARK: While no request waits

    /// Does more housekeeping, and renews the lease.
    ///
    /// - Parameter waited: The milliseconds that the previous call returned; `nil` if it knew of no
    ///   work.
    ///
    /// - Returns: How many milliseconds to wait before the next call; `nil` if no work is known of.
    func workAlone(after waited: Int64?) -> Int64? {
        guard !self.runner.isLost else { return nil }
        do {
            let now = self.runner.housekeepingTime
            if waited == nil { try self.lookAtOthers() }
            guard self.runner.mayKeepHouse else { return try self.followSharedZones() }
            // After a non-zero wait no check is needed.
            if waited ?? 0 == 0 {
                let wait = self.milliseconds(untilStepFrom: now)
                guard wait == 0 else { return wait }
            }
            try self.step(isAlone: true)
            guard self.runner.mayKeepHouse else { return nil }
            return self.milliseconds(untilStepFrom: now)
        } catch {
            self.failedAlone(error)
            return nil
        }
    }

    private func failedAlone(_ error: any Error) {
        switch error as? StorageFailure ?? .unexpected(code: 0) {
        case .unavailable where self.room.notes(error, now: self.now()): break
        case .unavailable(let code):
            self.runner.reachability.failed(.writes)
            self.configuration.notice(.answersNothing(code: code))
        case .unexpected(let code): self.report(.housekeepingFailed(code: code))
        case .conflict, .outcomeUnknown, .exceeds: break
        }
    }

    /// Reads other processes' changes, and takes the lease if it is free, or renews it.
    private func lookAtOthers() throws {
        let runner = self.runner
        guard try runner.lookAtOthers(), let lease = runner.lease else { return }
        let isHeld = lease.isHeld(in: runner.storeRow)
        guard isHeld ? lease.isRenewalDue(in: runner.storeRow) : lease.mayBeTaken(in: runner.storeRow) else {
            return
        }
        try runner.run(runner.plan()) { transaction in
            guard transaction.mayKeepHouse, let node = runner.session.node else { return }
            let removed = try transaction.connection.rows(
                NodeRegistration.removeSilent,
                [.integer(NodeRegistration.silenceMilliseconds), .integer(node.number)]
            )
            if removed.changesCount > 0 { transaction.isChanged = true }
        }
        _ = try runner.lookAtOthers()
    }

    /// Does a step in a transaction of its own, if this server has the lease.
    private func step(isAlone: Bool) throws {
        try self.runner.run(self.runner.plan()) { transaction in
            guard transaction.mayKeepHouse else { return }
            try self.housekeeping.step(
                isAlone: isAlone,
                onFullDisk: false,
                in: PostgreSQLHousekeeping(transaction)
            )
        }
    }

    /// Updates shared databases that must follow a change of this server.
    ///
    /// - Returns: How many milliseconds to wait before the next call; `nil` if no work is known of.
    private func followSharedZones() throws -> Int64? {
        guard self.runner.leavesViews, self.runner.session.node != nil else { return nil }
        let wait = self.housekeeping.milliseconds(untilFollowingFrom: self.runner.clock())
        guard wait == 0 else { return wait }
        try self.runner.run(self.runner.plan()) { transaction in
            transaction.leavesViews = try self.housekeeping.followSharedZones(
                isAlone: true,
                in: transaction
            )
        }
        guard self.runner.leavesViews else { return nil }
        return self.housekeeping.milliseconds(untilFollowingFrom: self.runner.clock())
    }

    // MARK: While requests wait

    /// Does a step after a batch: batches lock only databases, which leaves no room for it.
    func workBetweenBatches() {
        guard self.runner.session.node != nil else { return }
        guard self.runner.mayKeepHouse else {
            // A failed step is retried later.
            _ = try? self.followSharedZones()
            return
        }
        self.batchesSinceStep += 1
        let isDue =
            self.batchesSinceStep >= Self.batchesMax
            || (self.now() - self.lastStep >= Self.pauseNanoseconds
                && self.milliseconds(untilStepFrom: self.runner.housekeepingTime) == 0)
        guard isDue else { return }
        do {
            try self.step(isAlone: false)
        } catch {
            if case .unexpected(let code)? = error as? StorageFailure {
                self.report(.housekeepingFailed(code: code))
            }
        }
        self.lastStep = self.now()
        self.batchesSinceStep = 0
    }

    /// Does some housekeeping in a batch's transaction, and rolls it back alone if it fails.
    func workBeside(_ transaction: PostgreSQLTransaction) throws(StorageFailure) {
        guard transaction.mayKeepHouse else { return try self.followSharedZones(in: transaction) }
        let wait = self.housekeeping.milliseconds(
            untilStepFrom: transaction.nowMilliseconds,
            onFullDisk: false,
            knowing: transaction.knowledge
        )
        guard wait != nil else { return }
        try self.aside(in: transaction) { () throws(StorageFailure) in
            try self.housekeeping.step(
                isAlone: false,
                onFullDisk: false,
                in: PostgreSQLHousekeeping(transaction)
            )
        }
    }

    /// Updates shared databases after a change of a shared zone, while another server does the
    /// housekeeping: that server would find the entries later, and could not report the change's
    /// origin.
    private func followSharedZones(in transaction: PostgreSQLTransaction) throws(StorageFailure) {
        guard transaction.plan.node != nil, transaction.leavesViews == true else { return }
        try self.aside(in: transaction) { () throws(StorageFailure) in
            transaction.leavesViews = try self.housekeeping.followSharedZones(
                isAlone: false,
                in: transaction
            )
        }
    }

    /// Does work without a request, and rolls it back alone if it fails.
    private func aside(
        in transaction: PostgreSQLTransaction,
        _ work: () throws(StorageFailure) -> Void
    ) throws(StorageFailure) {
        let savepoint = try transaction.setSavepoint()
        do throws(StorageFailure) {
            transaction.origin = nil
            try work()
            try transaction.release()
        } catch {
            try transaction.takeBack(to: savepoint)
            _ = self.housekeeping.takeEvents()
            if case .unexpected(let code) = error { self.report(.housekeepingFailed(code: code)) }
        }
    }
}
