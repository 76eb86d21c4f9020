import Administration
import Foundation
import Logging
import RecordServer
import RecordStore
import ServiceLifecycle
import StorageContract

/// Verifies everything in the store once in an interval, beside the requests.
///
/// It works a hundredth of the time and rests for the others, so it costs requests less than a
/// hundredth of one processor. After a restart it goes on behind the last page, database or file that
/// it had finished: a large store may take longer than a server runs.
struct ScheduledVerification: Service {
    private static let share = 0.01
    private static let mebibytesPerSecond = 50
    /// A snapshot keeps a thread of the readers for a few milliseconds.
    private static let workMax = 400
    /// A server that has just started has other work.
    private static let delay = Duration.seconds(60)
    private static let retryInterval = Duration.seconds(3_600)
    private static let noteInterval = Duration.seconds(10)
    /// Findings that get a line each; the last line counts all.
    private static let linesMax = 100

    let store: Store
    let folder: DataFolder
    let interval: Duration
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // An error is a cancellation.
            try? await self.verifyForEver()
        }
        try? await gracefulShutdown()
    }

    private func verifyForEver() async throws {
        try await Task.sleep(for: min(Self.delay, self.interval))
        while true {
            let note = VerificationNote.read(in: self.folder)
            let interval = Int64(self.interval / .milliseconds(1))
            let due = note.last.map { $0.ended.milliseconds + interval } ?? 0
            if note.running == nil, due > SystemTime.milliseconds() {
                let rest = Duration.milliseconds(due - SystemTime.milliseconds())
                try await Task.sleep(for: min(rest, Self.retryInterval))
                continue
            }
            do {
                try await self.verify(note)
            } catch let error as CancellationError {
                throw error
            } catch {
                self.logger.warning(
                    "a verification could not go on, and will be retried",
                    metadata: [LogKeys.reason: "\(error)"]
                )
                try await Task.sleep(for: Self.retryInterval)
            }
        }
    }

    private func verify(_ note: VerificationNote) async throws {
        let told = ToldFindings(note, in: self.folder, logger: self.logger)
        await told.begin()
        var run = VerificationRun(of: self.store)
        run.share = Self.share
        run.mebibytesPerSecond = Self.mebibytesPerSecond
        run.workMax = Self.workMax
        run.files = AssetFiles(in: self.folder.assetsPath)
        if !StoreAddress.exists(in: self.folder) {
            run.pages = try EngineOpening.files.pages(in: self.folder.path)
        }
        run.begin = await told.position
        run.reached = { await told.reached($0, $1) }
        await told.end(try await run.run())
    }

    /// The findings of one verification, as lines of the log and as the note of the folder.
    private actor ToldFindings {
        private let folder: DataFolder
        private let logger: Logger
        private let isNew: Bool
        private let began: Moment
        private let findingsBefore: Int
        private var count = 0
        private var told: Set<String> = []
        private var written = ContinuousClock.now

        private(set) var position: VerificationPosition

        init(_ note: VerificationNote, in folder: DataFolder, logger: Logger) {
            self.folder = folder
            self.logger = logger
            self.isNew = note.running == nil
            self.began = note.running?.began ?? .now
            self.findingsBefore = note.running?.findings ?? 0
            self.position = note.running?.position ?? VerificationPosition()
        }

        private var findings: Int { self.findingsBefore + self.count }

        func begin() {
            self.logger.info(
                self.isNew ? "a verification begins" : "a verification goes on",
                metadata: ["since": "\(self.began.text)", "part": "\(self.position.part.rawValue)"]
            )
            self.save()
        }

        func reached(_ position: VerificationPosition, _ report: VerificationRun.Report) {
            let isSamePart = position.part == self.position.part
            self.position = position
            self.tell(report)
            if isSamePart, .now - self.written < ScheduledVerification.noteInterval { return }
            self.save()
        }

        func end(_ report: VerificationRun.Report) {
            self.tell(report)
            self.save(isEnd: true)
            var metadata: Logger.Metadata = [
                "since": "\(self.began.text)", "findings": .stringConvertible(self.findings),
                LogKeys.records: .stringConvertible(report.verified.records),
                LogKeys.assets: .stringConvertible(report.files.assets),
            ]
            guard self.findings > 0 else {
                return self.logger.info("a verification found no damage", metadata: metadata)
            }
            metadata[LogKeys.advice] = "See all, and what helps: tidemark verify"
            self.logger.error("a verification found damage", metadata: metadata)
        }

        /// `tidemark verify` may have written the note meanwhile.
        private func save(isEnd: Bool = false) {
            self.written = .now
            var note = VerificationNote.read(in: self.folder)
            if isEnd {
                note = VerificationNote(
                    last: VerificationNote.Ended(began: self.began, ended: .now, findings: self.findings)
                )
            } else {
                note.running = VerificationNote.Running(
                    began: self.began,
                    position: self.position,
                    findings: self.findings
                )
            }
            do {
                try note.write(in: self.folder)
            } catch {
                self.logger.warning(
                    "the progress of a verification cannot be noted",
                    metadata: [LogKeys.path: "\(VerificationNote.path(in: self.folder))"]
                )
            }
        }

        /// A line for each finding that has none yet.
        private func tell(_ report: VerificationRun.Report) {
            guard report.count > self.count else { return }
            self.count = report.count
            let files = AssetFiles(in: self.folder.assetsPath)
            for finding in report.listed(files: files) where self.told.count < ScheduledVerification.linesMax
            {
                guard self.told.insert(finding.text).inserted else { continue }
                self.logger.error(
                    "found in a verification",
                    metadata: [LogKeys.detail: "\(finding.text)", LogKeys.advice: "\(finding.kind.remedy)"]
                )
            }
        }
    }
}
