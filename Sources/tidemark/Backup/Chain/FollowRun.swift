import Administration
import Foundation
import UnixSignals

/// Continues a chain until a signal: an increment after each interval, and a base now and then.
///
/// ```text
/// open ── resume ──► increment ── wait ──► increment …
///   │        └─ no ──► base ──────┘ ▲          │ a base is due, or the changes are not known
///   │ an error: close, wait         └── base ◄─┘
///   └◄─────────────────────────────────────────┘
/// ```
///
/// An error ends no process: a disk may get room, and a server come back. The followed store is
/// closed, so that a backup that cannot be continued keeps nothing in the server's log.
struct FollowRun: Sendable {
    let source: DataFolder
    let chain: BackupChain
    let every: Span
    let baseEvery: Span
    let keep: Span
    let isJSON: Bool
    let metricsFile: String?

    /// Returns after SIGTERM or SIGINT, with what was begun completed.
    ///
    /// - Throws: `CommandFailure`, before anything is written.
    func run() async throws {
        try self.source.refuseUnlessServable()
        try self.source.refuseUnlessFile()
        guard self.source.hasStore else { throw self.source.hasNoStore }
        let lock = try self.prepare()
        BackupNotes.note(self.chain, in: self.source)
        defer { withExtendedLifetime(lock) {} }
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.follow() }
            group.addTask { for await _ in signals { return } }
            _ = try await group.next()
            group.cancelAll()
        }
    }

    private func prepare() throws -> ChainLock {
        let folder = try CopyFolder(making: self.chain.path)
        let all = try folder.contents()
        let contents = all.filter { $0 != "lock" }
        // A process that was killed while it made the first base has left these, and its lock.
        let remains = Set(["assets", ChainWriter.draft])
        guard
            contents.isEmpty || self.chain.isThere || all.contains("lock") && remains.isSuperset(of: contents)
        else {
            throw CommandFailure(
                .data,
                "\(self.chain.path) has other contents, and a backup overwrites nothing. Name a new folder, "
                    + "or one that was continued before, with --to."
            )
        }
        if contents.isEmpty { try folder.narrow() }
        try self.chain.refuseIfShared()
        let lock = try ChainLock(self.chain)
        ChainRetention(chain: self.chain, keep: self.keep).removeUnused()
        return lock
    }

    private func follow() async throws {
        var report = FollowReport(isJSON: self.isJSON, metricsFile: self.metricsFile)
        var writer: ChainWriter?
        defer { writer?.close() }
        while true {
            // One more after the signal, so that a graceful shutdown loses nothing.
            let isLast = Task.isCancelled
            do {
                try self.turn(&writer, &report, isLast: isLast)
            } catch {
                writer?.close()
                writer = nil
                report.failed(CopyAdvice.failure(error, in: self.chain.path).message, againIn: self.every)
            }
            report.writeMetrics()
            if isLast { return }
            // A signal ends the wait.
            try? await Task.sleep(for: .seconds(self.every.seconds))
        }
    }

    private func turn(
        _ writer: inout ChainWriter?,
        _ report: inout FollowReport,
        isLast: Bool
    ) throws {
        if let opened = writer, !opened.isCurrent {
            opened.close()
            writer = nil
        }
        var needsBase = false
        if writer == nil {
            guard !isLast else { return }
            let opened = try self.open()
            writer = opened.writer
            needsBase = opened.needsBase
        }
        guard var current = writer else { return }
        defer { writer = current }
        let start = ContinuousClock.now
        if !needsBase {
            switch try current.addIncrement() {
            case .unchanged: report.unchanged(since: current.tip?.checked ?? .now)
            case .added(let added): self.tell(added, current, &report, since: start)
            case .lost: needsBase = true
            }
        }
        if !isLast, needsBase || self.isBaseDue(behind: current.newestBase) {
            try self.addBase(&current, &report)
        }
        report.figures.base = current.newestBase
        try current.release()
    }

    private func open() throws -> (writer: ChainWriter, needsBase: Bool) {
        try self.source.refuseUnlessServable()
        var writer = try ChainWriter(self.chain, of: self.source)
        do {
            let isResumed = try writer.resume()
            return (writer, !isResumed)
        } catch {
            writer.close()
            throw error
        }
    }

    private func isBaseDue(behind base: Moment?) -> Bool {
        guard let base else { return true }
        return Moment.now.milliseconds - base.milliseconds >= self.baseEvery.seconds * 1_000
    }

    private func addBase(_ writer: inout ChainWriter, _ report: inout FollowReport) throws {
        let start = ContinuousClock.now
        var bar = ProgressBar()
        defer { bar.clear() }
        let added = try writer.addBase(&bar)
        self.tell(added, writer, &report, since: start)
        report.removed(ChainRetention(chain: self.chain, keep: self.keep).removeBases(now: .now))
    }

    private func tell(
        _ added: ChainWriter.Added,
        _ writer: ChainWriter,
        _ report: inout FollowReport,
        since start: ContinuousClock.Instant
    ) {
        report.added(
            added,
            to: writer.tip?.base ?? "",
            seconds: (ContinuousClock.now - start) / .seconds(1)
        )
    }
}
