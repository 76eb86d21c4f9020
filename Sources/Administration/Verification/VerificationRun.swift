package import RecordStore
package import StorageContract

/// The point that a verification has reached, from which an interrupted one goes on.
package struct VerificationPosition: Codable, Hashable, Sendable {
    /// The parts of a store, in the order in which they are checked.
    package enum Part: String, Codable, Hashable, Sendable {
        case pages, rows, files
    }

    package var part = Part.pages
    /// The number of the last page, database or asset of the part that was checked.
    package var after: Int64 = 0

    package init() {}

    package init(_ part: Part, after: Int64 = 0) {
        self.part = part
        self.after = after
    }
}

/// Checks everything of a store that can be checked, while a server serves it or without one.
package struct VerificationRun: Sendable {
    package struct Report: Hashable, Sendable {
        package var verified = StoreVerified()
        package var files = VerifiedAssets()
        /// Lines about the engine's own pages.
        package var pages: [String] = []

        package init() {}

        /// All findings, also those of the store that are not listed.
        package var count: Int {
            self.verified.findingsCount + self.files.damaged.count + self.pages.count
        }

        package var isClean: Bool { self.count == 0 }
    }

    /// The only container to look at; `nil` for all, and then files and pages are checked as well.
    package var container: String?
    /// At which everything is read; 0 for no bound.
    package var mebibytesPerSecond = 0
    /// The part of the time in which it may work; 1 for all of it.
    package var share = 1.0
    /// The file of an engine that has one: its own structures are checked.
    package var source: (any StoreSource)?
    /// Its pages, compared with their checksums alone: without a transaction, so that a server writes
    /// on.
    package var pages: (any StorePages)?
    /// Where files of assets are; `nil` to leave them out.
    package var files: AssetFiles?
    /// Where it begins.
    package var begin = VerificationPosition()
    /// Gets a part, how much of it is done, and how much there is.
    package var progress: (@Sendable (VerificationPosition.Part, Int64, Int64) -> Void)?
    /// Gets each point from which it could go on, and what was found since it began.
    package var reached: @Sendable (VerificationPosition, Report) async -> Void = { _, _ in }
    /// Rows, and kibibytes of bodies, of one snapshot.
    package var workMax = 4_000

    private let store: Store

    package init(of store: Store) { self.store = store }

    /// - Throws: `StoreCopyError` for pages, `StoreError` for rows and lists of files;
    ///   `CancellationError`.
    package func run() async throws -> Report {
        var report = Report()
        let pace = WorkPace(mebibytesPerSecond: self.mebibytesPerSecond, share: self.share)
        if self.container == nil, self.begin.part == .pages { try await self.checkPages(&report, pace) }
        if self.begin.part != .files { try await self.checkRows(&report, pace) }
        if self.container == nil, let files { try await self.checkFiles(files, &report, pace) }
        return report
    }

    private func after(in part: VerificationPosition.Part) -> Int64 {
        self.begin.part == part ? self.begin.after : 0
    }

    private func checkPages(_ report: inout Report, _ pace: WorkPace) async throws {
        if let source {
            report.pages = try source.checkPages { self.progress?(.pages, $0, $1) }
        }
        if let pages {
            let found = report
            let (wrong, _) = try await PageVerification(pages: pages, pace: pace)
                .run(after: Int(self.after(in: .pages))) {
                    await self.reached(VerificationPosition(.pages, after: Int64($0)), found)
                }
            report.pages += wrong.map { "page \($0) is not the one that was written" }
        }
        await self.reached(VerificationPosition(.rows), report)
    }

    private func checkRows(_ report: inout Report, _ pace: WorkPace) async throws {
        var rows = StoreVerification(self.store, container: self.container)
        rows.workMax = self.workMax
        rows.after = DatabaseID(rawValue: self.after(in: .rows))
        // A unit of work is a row, or a kibibyte of a body.
        rows.pause = { try await pace.wait(after: $0 * 1_024) }
        rows.progress = { self.progress?(.rows, $0, $1) }
        let found = report
        rows.reached = { database, verified in
            var report = found
            report.verified = verified
            await self.reached(VerificationPosition(.rows, after: database.rawValue), report)
        }
        report.verified = try await rows.run()
        await self.reached(VerificationPosition(.files), report)
    }

    private func checkFiles(_ files: AssetFiles, _ report: inout Report, _ pace: WorkPace) async throws {
        var verification = AssetVerification(of: self.store, files: files, pace: pace)
        verification.after = AssetNumber(rawValue: self.after(in: .files))
        if let progress { verification.progress = { progress(.files, $0, $1) } }
        let found = report
        verification.reached = { asset, verified in
            var report = found
            report.files = verified
            await self.reached(VerificationPosition(.files, after: asset.rawValue), report)
        }
        report.files = try await verification.run()
    }

    /// Puts right what can be put right without any loss.
    ///
    /// - Returns: How many repairs were made. A server builds indexes some time later.
    package func repair(_ report: Report) throws -> Int {
        try FindingRepair(self.store).run(report.verified.findings)
    }
}
