package import RecordStore
package import StorageContract
import Synchronization

/// Checks everything of a store that can be checked, while a server serves it or without one.
package struct VerificationRun: Sendable {
    /// The parts of a store, in the order in which they are checked.
    package enum Part: Hashable, Sendable {
        case pages, rows, files
    }

    package struct Report: Hashable, Sendable {
        package var verified = StoreVerified()
        package var files = VerifiedAssets()
        /// Lines of the engine about its own pages.
        package var pages: [String] = []

        package init() {}

        package var isClean: Bool {
            self.verified.findingsCount == 0 && self.files.damaged.isEmpty && self.pages.isEmpty
        }
    }

    /// The only container to look at; `nil` for all, and then files and pages are checked as well.
    package var container: String?
    /// At which records and files are read; 0 for no bound.
    package var mebibytesPerSecond = 0
    /// The file of an engine that has one.
    package var source: (any StoreSource)?
    /// Where files of assets are; `nil` to leave them out.
    package var files: AssetFiles?
    /// Gets a part, how much of it is done, and how much there is.
    package var progress: @Sendable (Part, Int64, Int64) -> Void = { _, _, _ in }

    private let store: Store

    package init(of store: Store) { self.store = store }

    /// - Throws: `StoreCopyError` for pages, `StoreError` for rows and lists of files.
    package func run() async throws -> Report {
        var report = Report()
        let pace = WorkPace(mebibytesPerSecond: self.mebibytesPerSecond)
        if let source, self.container == nil {
            let progress = self.progress
            report.pages = try source.checkPages { progress(.pages, $0, $1) }
        }
        var rows = StoreVerification(self.store, container: self.container)
        // A unit of work is a row, or a kibibyte of a body.
        rows.pause = { try await pace.wait(after: $0 * 1_024) }
        let progress = self.progress
        rows.progress = { progress(.rows, $0, $1) }
        report.verified = try await rows.run()
        if let files, self.container == nil {
            let verification = AssetVerification(of: self.store, files: files, pace: pace)
            report.files = try verification.run { progress(.files, $0, $1) }
        }
        return report
    }

    /// Puts right what can be put right without any loss.
    ///
    /// - Returns: How many repairs were made. A server builds indexes some time later.
    package func repair(_ report: Report) throws -> Int {
        try FindingRepair(self.store).run(report.verified.findings)
    }
}

/// Bytes that several threads count.
final class DoneBytes: Sendable {
    private let bytes = Mutex<Int64>(0)

    func add(_ count: Int) -> Int64 {
        self.bytes.withLock {
            $0 += Int64(count)
            return $0
        }
    }
}
